// Writes binary traces for tests, only from proto/FORMAT.md: shares no code with the agent's writer
// or with the reader.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "proto/trace.pb.h"
#include "proto/trace_format.h"

namespace jtrace::testing {

// The file header of a version.
std::string FileHeader(uint32_t version = format::kVersion);
// A frame around a payload.
std::string MakeFrame(std::string_view payload);

class TraceBuilder {
 public:
  TraceBuilder() : bytes_(FileHeader()) {}

  // The chunk being filled; Seal appends it as a frame and begins the next.
  proto::Chunk& chunk() { return chunk_; }
  void Seal();
  // Leaves out a sequence number, as if a frame had been lost.
  void LoseChunk() { ++sequence_; }

  uint32_t String(std::string_view text);
  uint32_t Class(std::string_view name, uint32_t loader = 0);
  uint32_t Routine(uint32_t class_id, std::string_view name, std::string_view descriptor);
  uint32_t Method(uint32_t class_id, std::string_view name, std::string_view descriptor);
  uint32_t Thread(std::string_view name, int64_t os_tid, int64_t java_tid = 0);
  void Rename(uint32_t thread, std::string_view name, int64_t os_tid);
  // A new tree node; its number.
  uint32_t Node(uint32_t thread, uint32_t parent, uint32_t routine);
  void Count(uint32_t thread, uint32_t node, uint64_t calls, uint64_t jitted = 0);
  void FlatCount(uint32_t thread, uint32_t routine, uint64_t calls, uint64_t jitted = 0);
  // Index of a frame of this chunk.
  uint32_t Frame(proto::Frame::Kind kind, uint64_t value);
  // `frames`: interrupted one first.
  proto::Sample& Sample(uint64_t time, uint32_t thread, uint32_t node,
                        std::initializer_list<uint32_t> frames);
  // A hook in native code; its number.
  uint32_t Hook(std::string_view name, uint64_t address, proto::Hook::Kind kind,
                std::string_view pattern = "");
  proto::HookCalls& HookCalls(uint32_t hook, uint32_t thread, uint32_t node, uint64_t caller,
                              uint64_t calls);
  proto::Event& Event(uint64_t time, uint32_t thread, uint32_t major, uint32_t minor,
                      int64_t value = 0);

  // The file so far, with the current chunk sealed if it holds anything.
  std::string Finish();

 private:
  std::string bytes_;
  proto::Chunk chunk_;
  uint64_t sequence_ = 0;
  uint32_t strings_ = 0;
  uint32_t classes_ = 0;
  uint32_t routines_ = 0;
  uint32_t methods_ = 0;
  uint32_t threads_ = 0;
  uint32_t nodes_ = 0;
  uint32_t hooks_ = 0;
};

}  // namespace jtrace::testing
