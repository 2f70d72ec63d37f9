#include "postproc/report/name_parts.h"

#include <algorithm>

#include "postproc/model/frame_name.h"

namespace jtrace::postproc {
namespace {

constexpr std::string_view kScope = "::";

// The last "::" outside of arguments and parameters; npos: none.
size_t LastScope(std::string_view name) {
  size_t last = std::string_view::npos;
  int depth = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    const std::string_view rest = name.substr(i);
    if (depth == 0 && rest.starts_with("::operator")) return i;
    if (depth == 0 && rest.starts_with(kScope)) last = i;
    if (depth == 0 && rest.starts_with('(') && !rest.starts_with("(anonymous namespace)")) break;
    if (name[i] == '<' || name[i] == '(') ++depth;
    if (name[i] == '>' || name[i] == ')') --depth;
  }
  return last;
}

// Where the routine's template arguments or parameters begin; the end if it has none.
size_t EndOfMethod(std::string_view name) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)";
  const size_t scope = LastScope(name);
  size_t from = scope == std::string_view::npos ? 0 : scope + kScope.size();
  if (name.substr(from).starts_with("operator")) {
    from += std::string_view("operator").size();
    if (name.substr(from).starts_with("()")) from += 2;
    return std::min(name.find('(', from), name.size());
  }
  if (name.substr(from).starts_with(kAnonymous)) from += kAnonymous.size();
  const size_t parameters = std::min(name.find('(', from), name.size());
  // "<init>" is a name; "Number<int>" has an argument.
  const size_t arguments = name.find('<', from);
  const bool is_template = arguments < parameters && arguments > from && name[arguments - 1] != '.';
  return is_template ? arguments : parameters;
}

// Where the lists of arguments and parameters end that begin at `open`; npos: nowhere.
size_t EndOfParameters(std::string_view name, size_t open) {
  int depth = 0;
  for (size_t i = open; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '(' || c == '<') ++depth;
    if (c != ')' && c != '>') continue;
    --depth;
    if (depth == 0 && name.substr(i + 1, 1) != "(") return i + 1;
  }
  return std::string_view::npos;
}

void SplitNative(std::string_view base, NameParts& parts) {
  const size_t scope = LastScope(base);
  if (scope == std::string_view::npos) {
    parts.method = base;
    return;
  }
  parts.owner = base.substr(0, scope + kScope.size());
  parts.method = base.substr(scope + kScope.size());
}

void SplitJava(std::string_view base, NameParts& parts) {
  const size_t dot = base.rfind('.');
  if (dot == std::string_view::npos || dot + 1 == base.size()) {
    parts.method = base;
    return;
  }
  parts.method = base.substr(dot + 1);
  const size_t before = dot == 0 ? std::string_view::npos : base.rfind('.', dot - 1);
  const size_t owner = before == std::string_view::npos ? 0 : before + 1;
  parts.package = base.substr(0, owner);
  parts.owner = base.substr(owner, dot + 1 - owner);
}

}  // namespace

NameParts SplitName(std::string_view name) {
  NameParts parts;
  const FrameName frame = ParseFrameName(name);
  const std::string_view head = name.substr(0, name.size() - frame.name.size());
  const std::string_view routine = frame.name;
  if (!IsName(routine)) {
    parts.package = head;
    parts.method = routine;
    return parts;
  }
  const std::string_view base = routine.substr(0, EndOfMethod(routine));
  const size_t end = EndOfParameters(routine, base.size());
  if (end != std::string_view::npos) {
    parts.parameters = routine.substr(base.size(), end - base.size());
    parts.rest = routine.substr(end);
  }
  const std::string_view whole = end == std::string_view::npos ? routine : base;
  if (whole.find(kScope) != std::string_view::npos) {
    SplitNative(whole, parts);
  } else {
    SplitJava(whole, parts);
  }
  if (!head.empty()) {
    // The prefix and the module are before the package, in one piece of text.
    parts.package = name.substr(0, head.size() + parts.package.size());
  }
  return parts;
}

bool IsName(std::string_view text) {
  if (text.empty() || text.front() == '[' || text.front() == '/' || text.front() == '.') {
    return false;
  }
  const std::string_view base = text.substr(0, EndOfMethod(text));
  return base.find(kScope) != std::string_view::npos ||
         (base.find(' ') == std::string_view::npos && base.find('/') == std::string_view::npos);
}

}  // namespace jtrace::postproc
