// Classes of a class path that were never loaded, as methods that never ran (S4.16).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_set.h"
#include "common/classfile/byte_io.h"
#include "common/scope_filter.h"
#include "postproc/lines/instruction_costs.h"
#include "postproc/lines/line_profile.h"
#include "postproc/model/trace_model.h"

namespace jtrace::postproc {

// Which classes the traces had in scope: the options include= and exclude= of their recordings.
class RecordedScope {
 public:
  explicit RecordedScope(const TraceModel& model);

  // In the scope of one of the traces. `class_name` in internal form ("java/lang/String").
  bool HasClass(std::string_view class_name) const;
  bool HasMethod(std::string_view class_name, std::string_view method_name) const;

 private:
  std::vector<classfile::ScopeFilter> filters_;
};

class UnloadedClasses {
 public:
  // `known`: names of classes that were loaded ("a.Outer$Inner").
  UnloadedClasses(RecordedScope scope, absl::flat_hash_set<std::string> known)
      : scope_(std::move(scope)), known_(std::move(known)) {}

  // A class file of the class path, in its order: the first one of a name counts. Bytes that are no
  // class file are counted in `unreadable`.
  void Add(classfile::Bytes bytes);

  // Methods with code, in the order of their class files. Those whose flow is not known (jsr) have
  // no lines.
  const std::vector<MethodLines>& methods() const { return methods_; }
  uint64_t unreadable() const { return unreadable_; }

 private:
  RecordedScope scope_;
  absl::flat_hash_set<std::string> known_;
  std::vector<MethodLines> methods_;
  uint64_t unreadable_ = 0;
};

}  // namespace jtrace::postproc
