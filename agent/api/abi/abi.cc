// The exports of libjtrace.so for C: the table of the functions.
#include <atomic>

#include "agent/api/abi/codes.h"
#include "agent/api/abi/functions.h"
#include "agent/base/version.h"
#include "agent/signal_safe/agent_work_scope.h"

namespace jtrace::abi {
namespace {

std::atomic<int32_t> state{JTRACE_E_NOT_RUNNING};
std::atomic<NativeApi*> published_api{nullptr};
std::atomic<metrics::ThreadCounters*> the_counters{nullptr};

template <auto function>
constexpr auto kGuardedAsOwn = signal_safe::kRunAsAgent<function, JTRACE_E_MEMORY>;

// Functions that only read counters or add to them call nothing that could be hooked. They are not
// marked as the agent's own work, which would slow them down.
constexpr jtrace_api kTable = {
    .struct_size = sizeof(jtrace_api),
    .abi = JTRACE_ABI,
    .version = JTRACE_VERSION,
    .error_text = ErrorText,
    .state = State,
    .metric_ids = MetricIds,
    .metric_id = kGuardedAsOwn<MetricId>,
    .metric_info = MetricInfo,
    .thread_attach = kGuardedAsOwn<ThreadAttach>,
    .own_totals = CurrentThreadTotals,
    .totals = kGuardedAsOwn<Totals>,
    .reader_open = kGuardedAsOwn<ReaderOpen>,
    .reader_read = kGuardedAsOwn<ReaderRead>,
    .reader_close = kGuardedAsOwn<ReaderClose>,
    .counter = kGuardedAsOwn<Counter>,
    .add = Add,
    .window_open = kGuardedAsOwn<WindowOpen>,
    .window_close = kGuardedAsOwn<WindowClose>,
    .method = kGuardedAsOwn<Method>,
    .command = kGuardedAsOwn<Command>,
    .segment = kGuardedAsOwn<Segment>,
    .segment_begin = kGuardedAsOwn<SegmentBegin>,
    .segment_end = kGuardedAsOwn<SegmentEnd>,
};

}  // namespace

int32_t State() { return state.load(std::memory_order_acquire); }

// Relaxed loads suffice here: State() has acquired what Publish stored before.
NativeApi& PublishedNativeApi() { return *published_api.load(std::memory_order_relaxed); }

metrics::ThreadCounters& Counters() { return *the_counters.load(std::memory_order_relaxed); }

void Publish(NativeApi& native_api) {
  published_api.store(&native_api, std::memory_order_relaxed);
  the_counters.store(&native_api.counters(), std::memory_order_relaxed);
  state.store(JTRACE_OK, std::memory_order_release);
}

void End() { state.store(JTRACE_E_ENDED, std::memory_order_release); }

}  // namespace jtrace::abi

extern "C" __attribute__((visibility("default"))) const jtrace_api* jtrace_get_api(uint32_t abi) {
  return abi == JTRACE_ABI ? &jtrace::abi::kTable : nullptr;
}
