#include "postproc/lines/selected_methods.h"

#include "common/glob.h"
#include "postproc/model/frame_name.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

bool IsBoundary(char c) { return c == '.' || c == '$' || c == '('; }

// Whether `part` is in `name`, and begins and ends where parts of names do.
bool HasPart(std::string_view name, std::string_view part) {
  for (size_t at = name.find(part); at != std::string_view::npos; at = name.find(part, at + 1)) {
    const size_t end = at + part.size();
    const bool begins = at == 0 || IsBoundary(name[at - 1]);
    const bool ends = end == name.size() || IsBoundary(name[end]);
    if (begins && ends) return true;
  }
  return false;
}

}  // namespace

std::string FullName(const MethodLines& method) {
  return method.class_name.empty() ? method.name : StrCat(method.class_name, ".", method.name);
}

bool NamesMethod(std::string_view pattern, const MethodLines& method) {
  std::string dotted(pattern);
  ReplaceAll(dotted, "::", ".");
  const std::string name = FullName(method);
  if (dotted.find_first_of("*?") == std::string::npos) return HasPart(name, dotted);
  return GlobMatches(dotted, name) || GlobMatches(dotted, WithoutParameters(name)) ||
         GlobMatches(dotted, method.class_name);
}

Methods SelectMethods(const LineProfile& profile, std::string_view of) {
  Methods methods;
  for (const MethodLines& method : profile.methods) {
    if (of.empty() || NamesMethod(of, method)) methods.push_back(&method);
  }
  return methods;
}

}  // namespace jtrace::postproc
