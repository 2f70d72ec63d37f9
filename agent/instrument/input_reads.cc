#include "agent/instrument/input_reads.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "agent/base/class_names.h"

namespace jtrace {
namespace {

constexpr std::string_view kStreamClass = "java/io/FileInputStream";
// The second name: from JDK 20 on.
constexpr std::string_view kDispatcherClasses[] = {"sun/nio/ch/FileDispatcherImpl",
                                                   "sun/nio/ch/UnixFileDispatcherImpl"};
// The locals that hold the stream, and the descriptor that a dispatcher gets.
constexpr int kStreamLocal = 0;
constexpr int kDescriptorLocal = 1;

bool IsDispatcher(std::string_view internal_name) {
  return std::ranges::find(kDispatcherClasses, internal_name) != std::end(kDispatcherClasses);
}

}  // namespace

bool ReadsDescriptors(std::string_view internal_name) {
  return internal_name == kStreamClass || IsDispatcher(internal_name);
}

bool IsInput(const classfile::SiteRef& callee) {
  if (callee.class_name == kStreamClass) {
    return callee.name == "read0" || callee.name == "readBytes";
  }
  return IsDispatcher(callee.class_name) && (callee.name == "read0" || callee.name == "readv0");
}

absl::StatusOr<classfile::ScopeFilter> InputFilter() {
  std::vector<std::string> patterns = {DottedName(kStreamClass)};
  for (const std::string_view name : kDispatcherClasses) patterns.push_back(DottedName(name));
  return classfile::ScopeFilter::Create(patterns, {});
}

classfile::ProbeSpec InputSpec(classfile::ProbeSpec spec, std::string_view internal_name) {
  spec.boundary = true;
  spec.enter = spec.token == classfile::TokenKind::kNone ? "countInput" : "enterInput";
  spec.exit = "exitInput";
  spec.timed_calls = spec.elements = false;
  spec.passed_local = internal_name == kStreamClass ? kStreamLocal : kDescriptorLocal;
  return spec;
}

}  // namespace jtrace
