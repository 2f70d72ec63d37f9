// The speed of jtrace-post's reading and reports: a trace like that of a database under load, with
// tens of thousands of tree nodes and ten thousand samples of 25 frames.
#include <benchmark/benchmark.h>
#include <link.h>
#include <unistd.h>

#include <cstdint>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "native-tests/support/log_trace.h"
#include "native-tests/support/run_post.h"
#include "native-tests/support/trace_builder.h"
#include "postproc/calltree/tree_builder.h"
#include "postproc/reader/trace_reader.h"

namespace jtrace {
namespace {

constexpr int kRoutines = 3000;
constexpr int kNodes = 40000;
constexpr int kSamples = 10000;
constexpr int kFramesEach = 25;

struct Segment {
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t offset = 0;
  std::string path;
};

// Code of this program and of its libraries represents that of the JVM.
std::vector<Segment> LoadedCode() {
  std::vector<Segment> segments;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* result) {
        std::string path = info->dlpi_name;
        if (path.empty()) {
          path.resize(4096);
          path.resize(static_cast<size_t>(readlink("/proc/self/exe", path.data(), path.size())));
        }
        for (int i = 0; path.starts_with("/") && i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& it = info->dlpi_phdr[i];
          if (it.p_type != PT_LOAD || (it.p_flags & PF_X) == 0) continue;
          static_cast<std::vector<Segment>*>(result)->push_back(
              {info->dlpi_addr + it.p_vaddr, info->dlpi_addr + it.p_vaddr + it.p_memsz, it.p_offset,
               path});
        }
        return 0;
      },
      &segments);
  return segments;
}

std::string MakeTrace() {
  std::mt19937 random(1);
  testing::TraceBuilder builder;
  const uint32_t thread = builder.Thread("main", 1);
  std::vector<uint32_t> methods;
  for (int i = 0; i < kRoutines; ++i) {
    const uint32_t owner = builder.Class("org.example.module" + std::to_string(i % 40) + ".Class" +
                                         std::to_string(i / 10));
    const std::string name = "method" + std::to_string(i);
    builder.Routine(owner, name, "(ILjava/lang/String;)V");
    methods.push_back(builder.Method(owner, name, "(ILjava/lang/String;)V"));
  }
  std::vector<uint32_t> nodes = {0};
  std::vector<int> depths = {0};
  for (int i = 0; i < kNodes; ++i) {
    // Deep rather than wide, like the call paths of a program: below the deepest of a few nodes.
    size_t parent = 0;
    for (int candidates = 0; candidates < 4; ++candidates) {
      const size_t candidate = random() % nodes.size();
      if (depths[candidate] < 60 && depths[candidate] >= depths[parent]) parent = candidate;
    }
    depths.push_back(depths[parent] + 1);
    nodes.push_back(builder.Node(thread, nodes[parent], 1 + random() % kRoutines));
    builder.Count(thread, nodes.back(), 1 + random() % 100000, random() % 1000);
  }
  const std::vector<Segment> code = LoadedCode();
  for (const Segment& segment : code) {
    proto::Module& module = *builder.chunk().add_module();
    module.set_start(segment.start);
    module.set_end(segment.end);
    module.set_file_offset(segment.offset);
    module.set_path(builder.String(segment.path));
  }
  std::vector<uint32_t> frames;
  for (const uint32_t method : methods) {
    frames.push_back(builder.Frame(proto::Frame::COMPILED, method));
  }
  for (int i = 0; i < 2000; ++i) {
    const Segment& segment = code[random() % code.size()];
    frames.push_back(builder.Frame(proto::Frame::NATIVE,
                                   segment.start + random() % (segment.end - segment.start)));
  }
  for (int i = 0; i < kSamples; ++i) {
    proto::Sample& sample = builder.Sample(static_cast<uint64_t>(i) * 1000000, thread,
                                           nodes[random() % nodes.size()], {});
    for (int frame = 0; frame < kFramesEach; ++frame) {
      sample.add_frame(frames[random() % frames.size()]);
    }
  }
  return builder.Finish();
}

const std::string& Trace() {
  static const std::string trace = MakeTrace();
  return trace;
}

// Receives records and does nothing.
class NullVisitor : public postproc::RecordVisitor {
 public:
  void OnCalls(postproc::ThreadId, absl::Span<const postproc::CallRecord> calls) override {
    benchmark::DoNotOptimize(calls.data());
  }
};

void BM_ReadBinary(benchmark::State& state) {
  const std::string& trace = Trace();
  for (auto _ : state) {
    postproc::TraceModel model;
    postproc::ImportStats stats;
    NullVisitor visitor;
    benchmark::DoNotOptimize(postproc::ReadBinaryTrace(trace, "t", {}, model, stats, visitor).ok());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(trace.size()));
}
BENCHMARK(BM_ReadBinary)->Unit(benchmark::kMillisecond);

void BM_ReadAndBuildTree(benchmark::State& state) {
  const std::string& trace = Trace();
  for (auto _ : state) {
    postproc::TraceModel model;
    postproc::ImportStats stats;
    postproc::TreeBuilder builder(postproc::MergeMode::kChain, postproc::Aggregate::kThread, model,
                                  stats);
    benchmark::DoNotOptimize(postproc::ReadBinaryTrace(trace, "t", {}, model, stats, builder).ok());
    builder.Finish();
    benchmark::DoNotOptimize(builder.tree().ComputeTotals().size());
  }
}
BENCHMARK(BM_ReadAndBuildTree)->Unit(benchmark::kMillisecond);

void BM_Overview(benchmark::State& state) {
  for (auto _ : state) {
    const testing::RunResult result = testing::RunPost({"t"}, {{"t", Trace()}});
    if (result.exit_code != 0) state.SkipWithError("jtrace-post failed");
  }
}
BENCHMARK(BM_Overview)->Unit(benchmark::kMillisecond);

// Events of a log through the builder: enter and exit along a path of 20.
void BM_BuildTreeFromEvents(benchmark::State& state) {
  postproc::TraceModel model;
  std::vector<postproc::RoutineId> routines;
  for (int i = 0; i < 200; ++i) routines.push_back(model.InternRoutine("m" + std::to_string(i)));
  postproc::ThreadInfo info;
  info.name = "t";
  const postproc::ThreadId thread = model.AddThread(info);
  std::mt19937 random(1);
  constexpr int kEvents = 100000;
  int64_t time = 0;
  for (auto _ : state) {
    postproc::ImportStats stats;
    postproc::TreeBuilder builder(postproc::MergeMode::kChain, postproc::Aggregate::kThread, model,
                                  stats);
    std::vector<postproc::RoutineId> open;
    for (int i = 0; i < kEvents; ++i) {
      const bool enter = open.empty() || (open.size() < 20 && random() % 2 == 0);
      const postproc::At at{++time, thread};
      if (enter) {
        open.push_back(routines[random() % 5 + 5 * open.size()]);
        builder.OnEnter(at, open.back(), postproc::CodeKind::kJitted);
      } else {
        builder.OnExit(at, open.back(), postproc::CodeKind::kJitted);
        open.pop_back();
      }
    }
    benchmark::DoNotOptimize(builder.tree().size());
  }
  state.SetItemsProcessed(state.iterations() * kEvents);
}
BENCHMARK(BM_BuildTreeFromEvents)->Unit(benchmark::kMillisecond);

constexpr int64_t kLogEvents = 20000000;

// Logs of some threads, with and without a clock.
const std::string& Log(int64_t threads, bool clock) {
  static std::map<std::pair<int64_t, bool>, std::string> logs;
  std::string& log = logs[{threads, clock}];
  if (log.empty()) {
    testing::LogTraceOptions options;
    options.events = kLogEvents;
    options.threads = static_cast<int>(threads);
    options.clock = clock;
    log = testing::LogTrace(options);
  }
  return log;
}

void CountEvents(benchmark::State& state, const std::string& log) {
  state.SetItemsProcessed(state.iterations() * kLogEvents);
  state.counters["bytes/event"] = static_cast<double>(log.size()) / kLogEvents;
}

// Arguments: threads traced, whether with a clock, threads of jtrace-post.
postproc::ReadOptions LogOptions(const benchmark::State& state) {
  postproc::ReadOptions options;
  options.jobs = static_cast<int>(state.range(2));
  return options;
}

void BM_DecodeLog(benchmark::State& state) {
  const std::string& log = Log(state.range(0), state.range(1) != 0);
  const postproc::ReadOptions options = LogOptions(state);
  for (auto _ : state) {
    postproc::TraceModel model;
    postproc::ImportStats stats;
    NullVisitor visitor;
    benchmark::DoNotOptimize(
        postproc::ReadBinaryTrace(log, "t", options, model, stats, visitor).ok());
  }
  CountEvents(state, log);
}
BENCHMARK(BM_DecodeLog)->Args({1, 0, 1})->Args({1, 1, 1})->Unit(benchmark::kMillisecond);

void BM_ReadLogAndBuildTree(benchmark::State& state) {
  const std::string& log = Log(state.range(0), state.range(1) != 0);
  const postproc::ReadOptions options = LogOptions(state);
  for (auto _ : state) {
    postproc::TraceModel model;
    postproc::ImportStats stats;
    postproc::TreeBuilder builder(postproc::MergeMode::kChain, postproc::Aggregate::kThread, model,
                                  stats);
    benchmark::DoNotOptimize(
        postproc::ReadBinaryTrace(log, "t", options, model, stats, builder).ok());
    builder.Finish();
    state.counters["nodes"] = static_cast<double>(builder.tree().size());
  }
  CountEvents(state, log);
}
BENCHMARK(BM_ReadLogAndBuildTree)
    ->ArgsProduct({{1, 8}, {0, 1}, {1, 2, 4}})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

// One recursion of that many levels, as a tree, with a sample at every tenth level.
void BM_DeepTree(benchmark::State& state) {
  testing::TraceBuilder builder;
  const uint32_t thread = builder.Thread("main", 1);
  const uint32_t routine = builder.Routine(builder.Class("a.B"), "down", "()V");
  uint32_t node = 0;
  for (int64_t i = 0; i < state.range(0); ++i) {
    node = builder.Node(thread, node, routine);
    builder.Count(thread, node, 1);
    if (i % 10 == 0) builder.Sample(static_cast<uint64_t>(i), thread, node, {});
  }
  const std::string trace = builder.Finish();
  for (auto _ : state) {
    postproc::TraceModel model;
    postproc::ImportStats stats;
    postproc::TreeBuilder tree(postproc::MergeMode::kChain, postproc::Aggregate::kThread, model,
                               stats);
    benchmark::DoNotOptimize(postproc::ReadBinaryTrace(trace, "t", {}, model, stats, tree).ok());
    tree.Finish();
    benchmark::DoNotOptimize(tree.tree().ComputeTotals().size());
  }
}
BENCHMARK(BM_DeepTree)->Arg(5000)->Arg(20000)->Unit(benchmark::kMillisecond);

void BM_ReadText(benchmark::State& state) {
  const std::string dump = testing::RunPost({"dump", "t"}, {{"t", Trace()}}).out;
  for (auto _ : state) {
    postproc::TraceModel model;
    postproc::ImportStats stats;
    NullVisitor visitor;
    benchmark::DoNotOptimize(postproc::ReadAnyTrace(dump, "t", {}, model, stats, visitor).ok());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(dump.size()));
}
BENCHMARK(BM_ReadText)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace jtrace

BENCHMARK_MAIN();
