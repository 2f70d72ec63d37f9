// The cost of rewriting a class at its load: the agent's start-up budget is 150 ms in all.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "agent/calls/classfile/class_rewriter.h"
#include "native-tests/support/class_builder.h"

namespace jtrace::classfile {
namespace {

// 50 methods of 60 bytes with a handler and two frames each.
test::ByteVector FiftyMethods() {
  test::ClassBuilder builder("bench/Fifty");
  for (int i = 0; i < 50; ++i) {
    test::ByteVector code(60, 0);
    code[10] = 26;                                // iload_0
    code[11] = 153, code[12] = 0, code[13] = 20;  // ifeq 31
    code[30] = 177;                               // return
    code[50] = 177;
    code[51] = 87;  // pop
    code[59] = 177;
    builder.Add(
        {.name = "m" + std::to_string(i),
         .descriptor = "(ILjava/lang/String;)V",
         .code = code,
         .max_locals = 5,
         .exceptions = {{0, 30, 51, 0}},
         .attributes = {{"StackMapTable", test::BytesOf().U2(2).U1(31).U1(64 + 19).U1(7).U2(1)}}});
  }
  return builder.Build();
}

void Rewrite(benchmark::State& state, const std::vector<test::ByteVector>& classes) {
  const ScopeFilter filter = ScopeFilter::Everything();
  const ProbeSpec spec = ProbeSpec::Tree();
  uint32_t id = 0;
  size_t probed = 0;
  for (auto _ : state) {
    for (const test::ByteVector& bytes : classes) {
      auto result = RewriteClass(
          bytes, {.filter = filter, .spec = spec, .assign_id = [&id](const MethodDeclaration&) {
                    return ++id;
                  }});
      benchmark::DoNotOptimize(result);
    }
    probed = id;
    id = 0;
  }
  state.counters["methods"] = static_cast<double>(probed);
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(classes.size()));
}

void BM_RewriteFiftyMethods(benchmark::State& state) { Rewrite(state, {FiftyMethods()}); }
BENCHMARK(BM_RewriteFiftyMethods)->Unit(benchmark::kMicrosecond);

// The fuzzer's seeds: small classes compiled by javac.
void BM_RewriteSeeds(benchmark::State& state) {
  std::vector<test::ByteVector> classes;
  for (const auto& entry : std::filesystem::directory_iterator(
           JTRACE_SOURCE_DIR "/native-tests/fuzz/corpus/classfile")) {
    if (entry.path().filename().string().starts_with("found-")) continue;  // the fuzzer's own
    std::ifstream in(entry.path(), std::ios::binary);
    classes.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  Rewrite(state, classes);
}
BENCHMARK(BM_RewriteSeeds)->Unit(benchmark::kMicrosecond);

void BM_ScopeOf(benchmark::State& state) {
  const auto filter =
      ScopeFilter::Create(std::vector<std::string>{"org.h2.**;com.acme.*;a.B::c"}, {});
  for (auto _ : state) benchmark::DoNotOptimize(filter->MayMatchClass("org/h2/util/StringUtils"));
}
BENCHMARK(BM_ScopeOf);

}  // namespace
}  // namespace jtrace::classfile

BENCHMARK_MAIN();
