// The exports of libjtrace.so for C: the table of the functions.
#include <atomic>

#include "agent/abi/codes.h"
#include "agent/abi/functions.h"
#include "agent/abi/published.h"
#include "agent/base/version.h"
#include "agent/hot/own_work.h"

namespace jtrace::abi {
namespace {

std::atomic<int32_t> state{JTRACE_E_NOT_RUNNING};
std::atomic<Host*> the_host{nullptr};
std::atomic<metrics::ThreadCounters*> the_counters{nullptr};

// Functions that only read or add counters call nothing that could be hooked, and are not slowed
// down.
constexpr jtrace_api kTable = {
    .struct_size = sizeof(jtrace_api),
    .abi = JTRACE_ABI,
    .version = JTRACE_VERSION,
    .error_text = ErrorText,
    .state = State,
    .metric_ids = MetricIds,
    .metric_id = hot::kAsOwn<MetricId>,
    .metric_info = MetricInfo,
    .thread_attach = hot::kAsOwn<ThreadAttach>,
    .own_totals = OwnTotals,
    .totals = hot::kAsOwn<Totals>,
    .reader_open = hot::kAsOwn<ReaderOpen>,
    .reader_read = hot::kAsOwn<ReaderRead>,
    .reader_close = hot::kAsOwn<ReaderClose>,
    .counter = hot::kAsOwn<Counter>,
    .add = Add,
    .window_open = hot::kAsOwn<WindowOpen>,
    .window_close = hot::kAsOwn<WindowClose>,
    .method = hot::kAsOwn<Method>,
    .command = hot::kAsOwn<Command>,
};

}  // namespace

int32_t State() { return state.load(std::memory_order_acquire); }

Host& TheHost() { return *the_host.load(std::memory_order_relaxed); }

metrics::ThreadCounters& Counters() { return *the_counters.load(std::memory_order_relaxed); }

void Publish(Host& host) {
  the_host.store(&host, std::memory_order_relaxed);
  the_counters.store(&host.counters(), std::memory_order_relaxed);
  state.store(JTRACE_OK, std::memory_order_release);
}

void End() { state.store(JTRACE_E_ENDED, std::memory_order_release); }

}  // namespace jtrace::abi

extern "C" __attribute__((visibility("default"))) const jtrace_api* jtrace_get_api(uint32_t abi) {
  return abi == JTRACE_ABI ? &jtrace::abi::kTable : nullptr;
}
