// hook=CLASS::METHOD (S3.24): which methods match the patterns. The patterns bring
// the methods into scope, so that the usual probes count their calls. Add on any Java thread;
// AddChanges on the writer thread.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/calls/classfile/class_rewriter.h"
#include "agent/native_hooks/hook_targets.h"
#include "agent/trace/chunk_source.h"
#include "agent/trace/record_encoder.h"
#include "common/scope_filter.h"

namespace jtrace::calls {

class MethodHookMatcher : public trace::ChunkSource {
 public:
  // Errors: a pattern that cannot be read.
  static absl::StatusOr<std::unique_ptr<MethodHookMatcher>> Create(
      const std::vector<native_hooks::HookSpec>& specs, trace::RecordEncoder& encoder);

  // Matches the probed methods of a rewritten class with the patterns.
  void Add(const classfile::RewriteResult& result);
  // Patterns that no method has matched yet, in the option's order.
  std::vector<std::string> Unmatched() const;

  void AddChanges(uint64_t time_ns, proto::Chunk& chunk) override;
  void BeginFile() override;

 private:
  struct Rule {
    native_hooks::HookSpec spec;
    classfile::ScopeFilter methods;
    bool is_matched = false;
  };
  MethodHookMatcher(std::vector<Rule> rules, trace::RecordEncoder& encoder)
      : rules_(std::move(rules)), encoder_(encoder) {}
  void AddMethod(std::string_view class_name, std::string_view method, uint32_t routine);

  mutable std::mutex mutex_;  // guards the next three
  std::vector<Rule> rules_;
  std::set<std::pair<uint32_t, size_t>> known_;   // routines and indexes of rules
  std::vector<std::pair<uint32_t, size_t>> log_;  // the same, oldest first
  trace::RecordEncoder& encoder_;
  size_t written_ = 0;  // of log_, in this file
};

}  // namespace jtrace::calls
