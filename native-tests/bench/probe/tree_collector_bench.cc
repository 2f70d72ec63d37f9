// The time that the writer thread takes to read a tree in which nothing, or everything, changed.
#include <benchmark/benchmark.h>

#include <vector>

#include "agent/calls/trees/tree_collector.h"
#include "native-tests/agent/calls/trees/probe_double.h"

namespace jtrace {
namespace {

// A tree of `count` nodes, eight children each, in chunks as the probes take them.
std::vector<signal_safe::Node*> Grow(signal_safe::Arena* arena, testing::ProbeDouble& thread,
                                     int count) {
  std::vector<signal_safe::Node*> nodes = {
      signal_safe::At<signal_safe::Node>(arena, thread.state()->root)};
  auto* memory = reinterpret_cast<signal_safe::Node*>(reinterpret_cast<uintptr_t>(arena) +
                                                      signal_safe::kFirstChunk * 2);
  for (int i = 1; i <= count; ++i) {
    signal_safe::Node* node = memory + i;
    node->routine = 1 + i % 1000;
    node->parent = signal_safe::RefOf(arena, nodes[(i - 1) / 8]);
    nodes.back()->next = signal_safe::RefOf(arena, node);
    nodes.push_back(node);
  }
  return nodes;
}

void BM_Collect(benchmark::State& state) {
  const bool changed = state.range(1) != 0;
  testing::TestArena arena(1 << 29);
  testing::ProbeDouble thread(arena.get(), 1);
  const auto nodes = Grow(arena.get(), thread, static_cast<int>(state.range(0)));
  calls::TreeCollector collector(arena.get());
  for (auto _ : state) {
    state.PauseTiming();
    for (signal_safe::Node* node : nodes) node->jitted += changed;
    state.ResumeTiming();
    collector.Collect(
        [](const calls::TreeUpdate& update) { benchmark::DoNotOptimize(update.nodes.data()); });
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_Collect)->Args({50'000, 0})->Args({50'000, 1})->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace jtrace

BENCHMARK_MAIN();
