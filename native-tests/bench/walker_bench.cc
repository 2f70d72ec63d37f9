// The cost of a walk: native stacks of given depth, with and without the memory of the last walk,
// the unwind rows that they use, and libunwind on the same stack.
//
// The caches are warm here. In a program that is interrupted each millisecond they are not: there
// what Sampler::Cost measures counts (java-tests/walker).
#include <benchmark/benchmark.h>
#include <dlfcn.h>
#include <ucontext.h>

#include <memory>

#include "agent/samples/walk/cfi.h"
#include "agent/samples/walk/walker.h"
#include "native-tests/support/sync_unwind.h"

namespace jtrace::samples {
namespace {

enum class How { kFull, kRemembered, kLibunwind };

constexpr uint32_t kCapacity = 4096;
samples::Frame frames[kCapacity];
auto memory = std::make_unique<samples::LastWalk::Storage>();
uint32_t remembered;

// Like an interruption: the walk starts at the caller of getcontext.
void WalkHere(benchmark::State& state, How how) {
  ucontext_t context;
  getcontext(&context);
  remembered = 0;
  uint32_t depth = 0;
  for (auto _ : state) {
    if (how == How::kLibunwind) {
      depth = static_cast<uint32_t>(testing::UnwindNative(context, kCapacity)->size());
      continue;
    }
    samples::Chain chain(frames, kCapacity);
    const bool remember = how == How::kRemembered;
    samples::WalkStack(
        nullptr,
        samples::WalkedThread{
            0, {}, remember ? memory.get() : nullptr, remember ? &remembered : nullptr},
        &context, chain);
    depth = chain.SizeWithin(kCapacity);
    benchmark::DoNotOptimize(depth);
  }
  state.counters["frames"] = depth;
}

__attribute__((noinline)) int Deepen(benchmark::State& state, How how, int64_t depth) {
  if (depth == 0) {
    WalkHere(state, how);
    return 0;
  }
  int result = Deepen(state, how, depth - 1);
  asm volatile("" : "+r"(result));  // no tail call, no loop
  return result + 1;
}

template <How how>
void BM_Walk(benchmark::State& state) {
  benchmark::DoNotOptimize(Deepen(state, how, state.range(0)));
}
BENCHMARK(BM_Walk<How::kFull>)->Arg(10)->Arg(100)->Arg(1000);
BENCHMARK(BM_Walk<How::kRemembered>)->Arg(10)->Arg(100)->Arg(1000);
BENCHMARK(BM_Walk<How::kLibunwind>)->Arg(10)->Arg(100);

void BM_RowFromTables(benchmark::State& state) {
  const auto begin = reinterpret_cast<uintptr_t>(&samples::WalkStack);
  dl_find_object object;
  _dl_find_object(reinterpret_cast<void*>(begin), &object);
  const auto* const tables = static_cast<const std::byte*>(object.dlfo_eh_frame);
  uintptr_t offset = 0;
  for (auto _ : state) {
    samples::RowRange range;
    benchmark::DoNotOptimize(
        samples::ReadCfiRow(tables, begin + (offset += 4099) % 65'536, &range));
  }
}
BENCHMARK(BM_RowFromTables);

void BM_RowFromCache(benchmark::State& state) {
  const auto pc = reinterpret_cast<uintptr_t>(&samples::WalkStack);
  samples::CfiRow row;
  samples::CfiLookup lookup;
  for (auto _ : state) benchmark::DoNotOptimize(lookup.Find(pc, &row));
}
BENCHMARK(BM_RowFromCache);

}  // namespace
}  // namespace jtrace::samples

BENCHMARK_MAIN();
