// The cost of one update of a counter, by embodiment (S5.5), at 1 to 64 threads.
#include <benchmark/benchmark.h>

#include <atomic>

#include "agent/metrics/rseq_counters.h"
#include "agent/metrics/thread_counters.h"

namespace jtrace::metrics {
namespace {

void Atomic(benchmark::State& state) {
  static std::atomic<int64_t> counter{0};
  for (auto _ : state) counter.fetch_add(1, std::memory_order_relaxed);
}

void PerCpu(benchmark::State& state) {
  static RseqCounters counters;
  for (auto _ : state) counters.Add(0, 1);
}

void PerThread(benchmark::State& state) {
  static jvm::ThreadTable threads;
  static ThreadCounters counters{signal_safe::AllocLayout{}, threads};
  static const uint32_t metric = *counters.users().Register("events", "");
  for (auto _ : state) counters.Add(metric, 1);
}

BENCHMARK(Atomic)->Threads(1)->Threads(2)->Threads(8)->Threads(64);
BENCHMARK(PerCpu)->Threads(1)->Threads(2)->Threads(8)->Threads(64);
BENCHMARK(PerThread)->Threads(1)->Threads(2)->Threads(8)->Threads(64);

}  // namespace
}  // namespace jtrace::metrics

BENCHMARK_MAIN();
