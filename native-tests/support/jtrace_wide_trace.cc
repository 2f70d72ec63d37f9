// Makes a trace of a program with very many call paths: wide_trace NODES FILE
//
// Four threads walk through 40,000 methods as programs do: up and down, at most 100 calls deep,
// each path with calls of its own; a sample for each 1,000 nodes. The same numbers make the same
// trace.
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "native-tests/support/trace_builder.h"

namespace jtrace::testing {
namespace {

constexpr uint32_t kClasses = 4'000;
constexpr uint32_t kMethodsOfClass = 10;
constexpr uint32_t kThreads = 4;
constexpr uint64_t kNodesOfChunk = 200'000;
constexpr size_t kMostDeep = 100;

uint64_t Mix(uint64_t a, uint64_t b) {
  uint64_t hash = a * 0x9e3779b97f4a7c15U + b;
  hash = (hash ^ (hash >> 31)) * 0xbf58476d1ce4e5b9U;
  return hash ^ (hash >> 29);
}

class WideTrace {
 public:
  std::string Make(uint64_t nodes) {
    Define();
    for (uint64_t made = 0; made < nodes; made += kNodesOfChunk) {
      AddChunk(std::min(kNodesOfChunk, nodes - made));
    }
    builder_.chunk().mutable_session_end()->set_calls(calls_);
    return builder_.Finish();
  }

 private:
  struct Open {
    uint32_t node = 0;
    uint32_t routine = 0;
    uint32_t callees = 0;
  };

  void Define() {
    for (uint32_t i = 0; i < kThreads; ++i) builder_.Thread("worker-" + std::to_string(i), 100 + i);
    for (uint32_t i = 0; i < kClasses; ++i) {
      const uint32_t id =
          builder_.Class("org.wide.part" + std::to_string(i % 50) + ".Element" + std::to_string(i));
      for (uint32_t method = 0; method < kMethodsOfClass; ++method) {
        const std::string name = "visit" + std::to_string(method);
        builder_.Routine(id, name, "(Lorg/wide/Element;I)V");
        builder_.Method(id, name, "(Lorg/wide/Element;I)V");
      }
    }
    open_.resize(kThreads);
    builder_.Seal();
  }

  void AddChunk(uint64_t nodes) {
    const auto thread = static_cast<uint32_t>(chunks_++ % kThreads);
    builder_.chunk().set_time_ns(chunks_ * 1'000'000);
    proto::TreeDelta& delta = *builder_.chunk().add_tree();
    delta.set_thread(thread + 1);
    const int32_t first = static_cast<int32_t>(last_ + 1);
    for (uint64_t i = 0; i < nodes; ++i) AddNode(thread, i == 0 ? first : 1, delta);
    const uint32_t frame = builder_.Frame(proto::Frame::COMPILED, 1 + chunks_ % kClasses);
    for (uint64_t i = 0; i < nodes; i += 1'000) {
      builder_.Sample(chunks_ * 1'000'000, thread + 1, static_cast<uint32_t>(last_ - i), {frame});
    }
    builder_.Seal();
  }

  void AddNode(uint32_t thread, int32_t step, proto::TreeDelta& delta) {
    std::vector<Open>& open = open_[thread];
    const uint64_t random = Mix(++last_, 7);
    for (uint64_t ends = random % 3; ends > 0 && !open.empty(); --ends) open.pop_back();
    if (open.size() >= kMostDeep) open.resize(kMostDeep / 2);
    const uint32_t caller = open.empty() ? 0 : open.back().routine;
    const uint32_t number = open.empty() ? static_cast<uint32_t>(last_) : ++open.back().callees;
    const auto routine =
        static_cast<uint32_t>(1 + Mix(caller, number % 32) % (kClasses * kMethodsOfClass));
    const uint64_t calls = 1 + (random >> 8) % (random % 64 == 0 ? 1'000'000 : 50);
    delta.add_new_node(step);
    delta.add_new_parent(open.empty() ? 0 : open.back().node);
    delta.add_new_routine(routine);
    delta.add_node(step);
    delta.add_calls(calls);
    delta.add_jitted(calls / 2);
    calls_ += calls;
    open.push_back({static_cast<uint32_t>(last_), routine, 0});
  }

  TraceBuilder builder_;
  std::vector<std::vector<Open>> open_;  // by thread
  uint64_t chunks_ = 0;
  uint64_t last_ = 0;  // node
  uint64_t calls_ = 0;
};

}  // namespace
}  // namespace jtrace::testing

int main(int argc, char** argv) {
  const uint64_t nodes = argc == 3 ? std::strtoull(argv[1], nullptr, 10) : 0;
  if (nodes == 0 || nodes > 1'000'000'000) {
    std::cerr << "usage: wide_trace NODES FILE\n";
    return 2;
  }
  std::ofstream file(argv[2], std::ios::binary);
  file << jtrace::testing::WideTrace().Make(nodes);
  return file.flush() ? 0 : 1;
}
