#include "agent/trace/trace_writer.h"

#include <signal.h>
#include <sys/resource.h>
#include <zstd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <new>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/signal_safe/agent_work_scope.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/trace_format.h"

namespace jtrace::trace {
namespace {

// A minimal second reader of the frame format, so that writer and post-processor cannot share a
// mistake.
std::vector<proto::Chunk> ReadChunks(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  std::vector<proto::Chunk> chunks;
  size_t at = format::kFileHeaderSize;
  while (at + format::kFrameHeaderSize <= bytes.size()) {
    uint32_t header[4];
    std::memcpy(header, bytes.data() + at, sizeof(header));
    EXPECT_EQ(header[0], format::kFrameMark);
    std::string payload(header[2], '\0');
    at += sizeof(header);
    EXPECT_EQ(ZSTD_decompress(payload.data(), payload.size(), bytes.data() + at, header[1]),
              payload.size());
    at += header[1];
    EXPECT_TRUE(chunks.emplace_back().ParseFromString(payload));
  }
  EXPECT_EQ(at, bytes.size());
  return chunks;
}

class CountingSource : public ChunkSource {
 public:
  explicit CountingSource(RecordEncoder& encoder) : encoder_(encoder) {}
  void Poll(proto::Chunk& chunk) override {
    proto::Sample* sample = chunk.add_sample();
    sample->set_time_ns(++polls);
    sample->set_thread(1);
  }
  void AddChanges(uint64_t, proto::Chunk& chunk) override {
    chunk.add_module()->set_path(encoder_.String(absl::StrCat("module", ++seals)));
  }
  void BeginFile() override { sizes.clear(); }
  void OnFileSizeChanged(uint64_t file_bytes) override { sizes.push_back(file_bytes); }
  std::vector<uint64_t> sizes;  // of the current file
  std::atomic<uint64_t> polls{0};
  std::atomic<uint64_t> seals{0};

 private:
  RecordEncoder& encoder_;
};

EventCodeSet WithoutGc() {
  EventCodeSet codes;
  EXPECT_TRUE(codes.Apply("-gc").ok());
  return codes;
}

struct Fixture {
  explicit Fixture(const char* name)
      : path(absl::StrCat(::testing::TempDir(), "/", name)),
        encoder(WithoutGc()),
        file(*TraceFile::Create(path)),
        source(encoder) {}

  std::string path;
  WorkerThread thread{"writer"};
  RecordingClock clock;
  RecordEncoder encoder;
  std::unique_ptr<TraceFile> file;
  CountingSource source;
  signal_safe::Doorbell doorbell;
};

TEST(TraceWriterTest, WritesEverythingOnceAndInOrder) {
  Fixture f("drain.bin");
  TraceWriter drain(f.thread, f.clock, f.encoder, *f.file, {&f.source}, absl::Milliseconds(5),
                    f.doorbell, [](const absl::Status& status) { FAIL() << status; });
  proto::SessionStart start;
  start.set_pid(42);
  drain.Start(start);
  std::vector<std::thread> producers;
  constexpr int kThreads = 4;
  constexpr int kEvents = 5000;
  for (int t = 0; t < kThreads; ++t) {
    producers.emplace_back([&, t] {
      for (int i = 0; i < kEvents; ++i) {
        f.encoder.AddEvent({.time_ns = static_cast<uint64_t>(i),
                            .thread = static_cast<uint32_t>(t + 1),
                            .major = format::kClass,
                            .minor = 1,
                            .text = absl::StrCat("name", i % 100)});
        f.encoder.AddEvent({.major = format::kGc});  // switched off
      }
    });
  }
  for (std::thread& producer : producers) producer.join();
  ASSERT_TRUE(
      drain.Stop([](proto::SessionEnd& end) { end.set_reason(proto::SessionEnd::VM_DEATH); }).ok());

  const std::vector<proto::Chunk> chunks = ReadChunks(f.path);
  ASSERT_GE(chunks.size(), 2u);
  EXPECT_EQ(chunks.front().session_start().pid(), 42);
  EXPECT_EQ(chunks.back().session_end().reason(), proto::SessionEnd::VM_DEATH);
  std::vector<std::string> strings = {""};
  std::vector<uint64_t> next_time(kThreads + 1, 0);
  uint64_t events = 0;
  uint64_t samples = 0;
  uint64_t modules = 0;
  for (size_t i = 0; i < chunks.size(); ++i) {
    const proto::Chunk& chunk = chunks[i];
    EXPECT_EQ(chunk.sequence(), i + 1);
    if (chunk.string_size() > 0) {
      EXPECT_EQ(chunk.first_string(), strings.size());
    }
    for (const std::string& text : chunk.string()) strings.push_back(text);
    for (const proto::Event& event : chunk.event()) {
      ++events;
      ASSERT_EQ(event.major(), static_cast<uint32_t>(format::kClass));
      EXPECT_EQ(event.time_ns(), next_time[event.thread()]++);
      ASSERT_LT(event.text(), strings.size());
      EXPECT_EQ(strings[event.text()], absl::StrCat("name", event.time_ns() % 100));
    }
    for (const proto::Sample& sample : chunk.sample()) EXPECT_EQ(sample.time_ns(), ++samples);
    for (const proto::Module& module : chunk.module()) {
      ASSERT_LT(module.path(), strings.size()) << "defined in the same chunk at the latest";
      EXPECT_EQ(strings[module.path()], absl::StrCat("module", ++modules));
    }
  }
  EXPECT_EQ(events, static_cast<uint64_t>(kThreads) * kEvents);
  EXPECT_EQ(samples, f.source.polls);
  EXPECT_EQ(modules, f.source.seals);
}

TEST(TraceWriterTest, WriteFailureIsReportedOnceAndEndsNothing) {
  Fixture f("failing.bin");
  // A file-size limit makes write() fail the way a full disk does.
  signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit tiny = {64, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tiny), 0);
  std::atomic<int> failures{0};
  {
    TraceWriter drain(f.thread, f.clock, f.encoder, *f.file, {&f.source}, absl::Milliseconds(5),
                      f.doorbell, [&](const absl::Status&) { ++failures; });
    drain.Start(proto::SessionStart());
    for (int i = 0; i < 1000; ++i) f.encoder.String(absl::StrCat("incompressible", i * 7919));
    EXPECT_FALSE(drain.Stop([](proto::SessionEnd&) {}).ok());
  }
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(failures, 1);
}

// More nodes at once than fit into a frame, as from a program that makes call paths very fast.
class ManyNodes : public ChunkSource {
 public:
  static constexpr int kNodes = 6'500'000;
  void AddChanges(uint64_t, proto::Chunk& chunk) override {
    if (std::exchange(reported_, true)) return;
    proto::TreeDelta& delta = *chunk.add_tree();
    for (int i = 0; i < kNodes; ++i) {
      delta.add_new_node(1);
      delta.add_new_parent(UINT32_MAX);
      delta.add_new_routine(UINT32_MAX);
    }
  }

 private:
  bool reported_ = false;
};

// What the sources did until then is unknown: they are not called any more.
TEST(TraceWriterTest, MissingMemoryEndsTheTraceAndNothingElse) {
  class Failing : public ChunkSource {
   public:
    void Poll(proto::Chunk&) override {
      if (++polls == 3) throw std::bad_alloc();
    }
    void AddChanges(uint64_t, proto::Chunk&) override {}
    std::atomic<int> polls{0};
  };
  Fixture f("memory.bin");
  Failing failing;
  std::atomic<int> failures{0};
  TraceWriter drain(f.thread, f.clock, f.encoder, *f.file, {&failing}, absl::Milliseconds(1),
                    f.doorbell, [&](const absl::Status&) { ++failures; });
  drain.Start(proto::SessionStart());
  while (failures.load() == 0) std::this_thread::yield();
  EXPECT_TRUE(absl::IsResourceExhausted(drain.Flush()));
  bool called = false;
  drain.Call([&] { called = true; });
  EXPECT_TRUE(called);
  EXPECT_TRUE(absl::IsResourceExhausted(drain.Stop([](proto::SessionEnd&) {})));
  EXPECT_EQ(failing.polls.load(), 3);
  EXPECT_EQ(failures.load(), 1);
  EXPECT_EQ(ReadChunks(f.path).size(), 1u) << "the start";
  signal_safe::agent_is_disabled.store(false);
}

TEST(TraceWriterTest, WhatLeavesATaskReachesItsCaller) {
  Fixture f("task.bin");
  TraceWriter drain(f.thread, f.clock, f.encoder, *f.file, {&f.source}, absl::Milliseconds(1),
                    f.doorbell, [](const absl::Status&) { FAIL(); });
  drain.Start(proto::SessionStart());
  EXPECT_THROW(drain.Call([] { throw std::bad_alloc(); }), std::bad_alloc);
  EXPECT_TRUE(drain.Flush().ok());
}

TEST(TraceWriterTest, ChunksTooLargeForAFrameAreSplit) {
  Fixture f("many.bin");
  ManyNodes nodes;
  TraceWriter drain(f.thread, f.clock, f.encoder, *f.file, {&nodes}, absl::Milliseconds(5),
                    f.doorbell, [](const absl::Status& status) { FAIL() << status; });
  drain.Start(proto::SessionStart());
  ASSERT_TRUE(drain.Stop([](proto::SessionEnd& end) { end.set_calls(1); }).ok());
  int count = 0;
  uint32_t last = 0;
  const std::vector<proto::Chunk> chunks = ReadChunks(f.path);
  for (const proto::Chunk& chunk : chunks) {
    for (const proto::TreeDelta& delta : chunk.tree()) {
      if (delta.new_node_size() == 0) continue;
      EXPECT_EQ(static_cast<uint32_t>(delta.new_node(0)), last + 1);
      last = 0;
      for (const int32_t step : delta.new_node()) last += static_cast<uint32_t>(step);
      count += delta.new_node_size();
    }
  }
  EXPECT_EQ(count, ManyNodes::kNodes);
  EXPECT_EQ(last, static_cast<uint32_t>(count));
  EXPECT_EQ(chunks.back().session_end().calls(), 1u);
}

TEST(TraceWriterTest, PollsWhenRung) {
  Fixture f("rung.bin");
  TraceWriter drain(f.thread, f.clock, f.encoder, *f.file, {&f.source}, absl::Hours(1), f.doorbell,
                    [](const absl::Status& status) { FAIL() << status; });
  drain.Start(proto::SessionStart());
  for (int i = 0; i < 100; ++i) {
    const uint64_t before = f.source.polls;
    f.doorbell.Ring();
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (f.source.polls == before && std::chrono::steady_clock::now() < end) {
      std::this_thread::yield();
    }
    ASSERT_GT(f.source.polls, before) << "ring " << i;
  }
  ASSERT_TRUE(drain.Stop([](proto::SessionEnd&) {}).ok());
}

TEST(TraceWriterTest, FlushWritesWhatWasRecordedBefore) {
  Fixture f("flush.bin");
  TraceWriter drain(f.thread, f.clock, f.encoder, *f.file, {&f.source}, absl::Seconds(10),
                    f.doorbell, [](const absl::Status& status) { FAIL() << status; });
  drain.Start(proto::SessionStart());
  for (int i = 0; i < 3; ++i) {
    f.encoder.AddEvent({.major = format::kSession, .text = absl::StrCat("flush", i)});
    ASSERT_TRUE(drain.Flush().ok());
    int events = 0;
    for (const proto::Chunk& chunk : ReadChunks(f.path)) events += chunk.event_size();
    EXPECT_EQ(events, i + 1);
  }
  ASSERT_TRUE(drain.Stop([](proto::SessionEnd&) {}).ok());
  EXPECT_TRUE(drain.Flush().ok()) << "after the end there is nothing to do";
}

// Each file can be read by itself: everything it names is defined in it, chunks count from 1.
TEST(TraceWriterTest, NextFileIsSelfContained) {
  Fixture f("next.bin");
  const std::string second_path = absl::StrCat(::testing::TempDir(), "/next.2.bin");
  const auto second = *TraceFile::Create(second_path);
  TraceWriter drain(f.thread, f.clock, f.encoder, *f.file, {&f.source}, absl::Milliseconds(5),
                    f.doorbell, [](const absl::Status& status) { FAIL() << status; });
  drain.Start(proto::SessionStart());
  const uint32_t klass = f.encoder.ClassNumber("a.B", 2);
  const uint32_t routine = f.encoder.RoutineNumber(klass, "f", "()V");
  const uint32_t ended = f.encoder.DefineThread({.name = "ended"});
  const uint32_t running = f.encoder.DefineThread({.name = "running"});
  f.encoder.ForgetThread(ended);
  proto::SessionStart start;
  start.set_pid(43);
  ASSERT_TRUE(
      drain.NextFile(*second, start, [](proto::SessionEnd& end) { end.set_calls(5); }).ok());
  f.encoder.AddEvent({.thread = running, .major = format::kSession, .text = "later"});
  f.encoder.DefineRoutines({routine});
  ASSERT_TRUE(drain.Stop([](proto::SessionEnd& end) { end.set_calls(6); }).ok());

  EXPECT_EQ(ReadChunks(f.path).back().session_end().calls(), 5u);
  const auto chunks = ReadChunks(second_path);
  const proto::Chunk& first = chunks.front();
  EXPECT_EQ(first.sequence(), 1u);
  EXPECT_EQ(first.session_start().pid(), 43);
  EXPECT_EQ(first.first_string(), 1u);
  proto::Chunk all;
  for (const proto::Chunk& chunk : chunks) all.MergeFrom(chunk);
  ASSERT_EQ(all.class_def_size(), 1);
  EXPECT_EQ(first.string(all.class_def(0).name() - 1), "a.B");
  ASSERT_EQ(all.routine_size(), 1);
  EXPECT_EQ(all.routine(0).id(), routine);
  EXPECT_EQ(first.string(all.routine(0).name() - 1), "f");
  ASSERT_EQ(first.thread_size(), 1);
  EXPECT_EQ(first.thread(0).id(), running);
  EXPECT_EQ(chunks.back().session_end().calls(), 6u);

  // Sources know their file's size: at its beginning, and after each chunk.
  ASSERT_EQ(f.source.sizes.size(), chunks.size() + 1);
  EXPECT_EQ(f.source.sizes.front(), format::kFileHeaderSize);
  EXPECT_TRUE(std::is_sorted(f.source.sizes.begin(), f.source.sizes.end()));
  EXPECT_EQ(f.source.sizes.back(), second->bytes_written());
}

}  // namespace
}  // namespace jtrace::trace
