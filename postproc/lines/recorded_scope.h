// Which classes the traces had in scope: the options include= and exclude= of their recordings.
#pragma once

#include <string_view>
#include <vector>

#include "common/scope_filter.h"
#include "postproc/model/trace_model.h"

namespace jtrace::postproc {

class RecordedScope {
 public:
  explicit RecordedScope(const TraceModel& model);

  // In the scope of one of the traces. `class_name` in internal form ("java/lang/String").
  bool HasClass(std::string_view class_name) const;
  bool HasMethod(std::string_view class_name, std::string_view method_name) const;

 private:
  std::vector<classfile::ScopeFilter> filters_;
};

}  // namespace jtrace::postproc
