// unwind= (event 0x41): which methods get the probe that unwinds their callers.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "agent/base/losses.h"
#include "agent/calls/classfile/class_rewriter.h"
#include "agent/options/unwind_rules.h"

namespace jtrace::calls {

// The methods may be in scope or not. Any thread.
class UnwindMethods {
 public:
  UnwindMethods(UnwindRules rules, Losses& losses) : rules_(std::move(rules)), losses_(losses) {}

  // `internal_name`: null: the class's name is not known yet.
  bool MayMatchClass(const char* internal_name) const {
    return internal_name == nullptr ? !rules_.empty() : rules_.MayMatchClass(internal_name);
  }
  const classfile::ScopeFilter& methods() const { return rules_.methods(); }

  // Sets how often an unwind is due in each method of a rewritten class that has the probe.
  void Add(const classfile::RewriteResult& result);
  // Patterns that no method with code has matched yet, in the option's order.
  std::vector<std::string> Unmatched() const;

 private:
  void SetMatched(std::string_view class_name, std::string_view method);

  const UnwindRules rules_;
  Losses& losses_;
  mutable absl::Mutex mutex_;
  absl::flat_hash_set<size_t> matched_ ABSL_GUARDED_BY(mutex_);  // rules
};

}  // namespace jtrace::calls
