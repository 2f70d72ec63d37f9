// The counters of blocks of an agent, by their last totals (proto/FORMAT.md, "Blocks").
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "proto/trace.pb.h"

namespace jtrace::postproc {

class AgentTrees;

class AgentBlocks {
 public:
  // Call for every chunk, in its order.
  void Add(const proto::Chunk& chunk);

  // A class file; a method of it with its counters; both as the arguments of a notice.
  using Emit = absl::FunctionRef<void(std::string_view op, const std::vector<std::string>& args)>;
  // `class_name`: by ClassDef.id; `routine_name`: by Routine.id. In the order of definition, each
  // class before its methods. `trees`: has the calls of methods.
  void ForEach(AgentTrees& trees, absl::FunctionRef<std::string(uint32_t)> class_name,
               absl::FunctionRef<std::string(uint32_t)> routine_name, Emit emit) const;
  bool empty() const { return methods_.empty(); }

 private:
  uint64_t CountOf(uint32_t counter) const;
  std::vector<std::string> ArgsOf(const proto::MethodCounters& method, std::string routine,
                                  int64_t calls) const;
  // Calls by Routine.id, less those that methods count themselves.
  absl::flat_hash_map<uint32_t, int64_t> CallsLeft(AgentTrees& trees) const;

  std::vector<proto::ClassCode> classes_;
  std::vector<proto::MethodCounters> methods_;
  std::vector<uint64_t> counts_;  // by counter
  std::vector<proto::OpenActivations> open_;
};

}  // namespace jtrace::postproc
