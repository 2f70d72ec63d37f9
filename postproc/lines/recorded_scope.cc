#include "postproc/lines/recorded_scope.h"

#include <algorithm>
#include <string>

#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

// "…,include=a.**;b.*,exclude=c.D": patterns have no commas.
classfile::ScopeFilter FilterOf(std::string_view options) {
  std::vector<std::string> include, exclude;
  for (std::string_view option : Split(options, ',')) {
    if (ConsumePrefix(option, "include=")) include.emplace_back(option);
    if (ConsumePrefix(option, "exclude=")) exclude.emplace_back(option);
  }
  // A trace's text may be anything: then the scope is the default one.
  return classfile::ScopeFilter::Create(include, exclude).value_or(classfile::ScopeFilter());
}

}  // namespace

RecordedScope::RecordedScope(const TraceModel& model) {
  for (const TraceInfo& trace : model.traces()) filters_.push_back(FilterOf(trace.Fact("options")));
}

bool RecordedScope::HasClass(std::string_view class_name) const {
  return std::any_of(filters_.begin(), filters_.end(), [&](const classfile::ScopeFilter& filter) {
    return filter.MayMatchClass(class_name);
  });
}

bool RecordedScope::HasMethod(std::string_view class_name, std::string_view method_name) const {
  return std::any_of(filters_.begin(), filters_.end(), [&](const classfile::ScopeFilter& filter) {
    return filter.Includes(class_name, method_name);
  });
}

}  // namespace jtrace::postproc
