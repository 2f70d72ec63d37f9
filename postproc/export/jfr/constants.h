// What the events of a recording refer to by number: threads, stacks, and the methods of these.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "postproc/model/record_visitor.h"
#include "postproc/samples/sample_log.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc::jfr {

// A state as a number of the recording: that of SampleState, plus one, since 0 means none.
inline uint64_t NumberOf(SampleState state) { return static_cast<uint64_t>(state) + 1; }

class Constants {
 public:
  explicit Constants(const TraceModel& model) : model_(model) {}

  // The number of the sample's stack; 0 if it has no frames.
  uint32_t StackOf(const SampleRecord& sample);

  // Passes checkpoint events with all of it to `append`. `begin`: the position in the file of the
  // first one; `time`: nanoseconds since 1970. Returns the position of the last one, where readers
  // begin.
  uint64_t Write(int64_t time, uint64_t begin, absl::FunctionRef<void(std::string_view)> append);

 private:
  using PoolSink = absl::FunctionRef<void(uint32_t type, uint64_t count, std::string_view entries)>;

  void ForEachPool(PoolSink sink);
  void Stacks(PoolSink sink);
  void Methods(PoolSink sink);
  void Threads(PoolSink sink) const;
  uint64_t Symbol(std::string_view text);
  uint64_t Class(std::string_view name);
  uint64_t Method(const Frame& frame);

  struct Entry {
    StackId stack;
    CallSite innermost = kNoCallSite;
  };

  const TraceModel& model_;
  StackTable table_;
  absl::flat_hash_map<std::pair<uint32_t, CallSite>, uint32_t> numbers_;
  std::vector<Entry> stacks_;
  // By routine and module: routines of that name in two modules are two methods.
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, uint64_t> method_numbers_;
  std::vector<Frame> methods_;
  StringMap<uint64_t> symbols_;
  std::vector<std::string> symbol_texts_;
  absl::flat_hash_map<uint64_t, uint64_t> classes_;  // numbers by the name's symbol
  std::vector<uint64_t> class_names_;
};

// "(ILjava/lang/String;)V" of "int,String": names of methods have no return types, so it is V.
std::string DescriptorOf(std::string_view parameters);

}  // namespace jtrace::postproc::jfr
