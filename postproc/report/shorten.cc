#include "postproc/report/shorten.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "common/visible_text.h"
#include "postproc/model/frame_name.h"

namespace jtrace::postproc {

int DisplayWidth(std::string_view text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;  // not a continuation byte
  }));
}

std::string Shorten(std::string_view text, int width) {
  const int length = DisplayWidth(text);
  if (length <= width) return std::string(text);
  if (width <= 1) return "…";
  const int head = (width - 1) / 2;
  const int tail_begin = length - (width - 1 - head);
  std::string shortened;
  int column = -1;
  bool marked = false;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) ++column;
    if (column < head || column >= tail_begin) {
      shortened.push_back(c);
    } else if (!marked) {
      shortened += "…";
      marked = true;
    }
  }
  return shortened;
}

namespace {

// Shortens the package's next segment from `at` on to its first letter; false at the class's name,
// which begins with a capital, or at a name without a package.
bool AbbreviateSegment(std::string& name, size_t& at) {
  const size_t dot = name.find('.', at);
  const size_t parameters = name.find('(', at);
  if (dot == std::string::npos || dot > parameters || !absl::ascii_islower(name[at])) return false;
  // A class in the default package may begin with a small letter: the method's name is not a class.
  if (name.find('.', dot + 1) > parameters) return false;
  name.erase(at + 1, dot - at - 1);
  at += 2;
  return true;
}

}  // namespace

std::string Printable(std::string_view text) { return VisibleText(text); }

std::vector<std::string> WrapWords(std::string_view text, int width) {
  if (width <= 0) return {std::string(text)};
  std::vector<std::string> lines;
  int used = 0;
  while (!text.empty()) {
    size_t end = std::min(text.find(' '), text.size());
    // "70.1 %" stays on one line.
    if (text.substr(end).starts_with(" %")) end = std::min(text.find(' ', end + 1), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const int columns = DisplayWidth(word);
    if (lines.empty() || used + 1 + columns > width) {
      lines.emplace_back(word);
      used = columns;
    } else {
      lines.back().append(" ").append(word);
      used += 1 + columns;
    }
  }
  return lines;
}

namespace {

constexpr std::string_view kJoint = " > ";
constexpr std::string_view kHidden = "(…)";

// Without the parts that distinguish routines least, one after the other, as far as it must be.
std::string WithoutParts(const NameParts& parts, int width) {
  const bool has_parameters = DisplayWidth(parts.parameters) > DisplayWidth(kHidden);
  const std::string_view parameters = has_parameters ? kHidden : parts.parameters;
  const std::string_view pieces[] = {parts.owner, parts.method, parameters};
  std::string name;
  for (const std::string_view piece : pieces) name += piece;
  if (DisplayWidth(name) <= width) return name;
  name = std::string(parts.owner).append(parts.method);
  if (DisplayWidth(name) <= width) return name;
  const std::string_view dot = parts.owner.ends_with("::") ? "::" : ".";
  const int room = width - DisplayWidth(parts.method) - static_cast<int>(dot.size());
  constexpr int kLeastOwner = 5;  // "Ab…yz"
  if (parts.owner.size() <= dot.size() || room < kLeastOwner) return std::string(parts.method);
  const std::string_view owner = parts.owner.substr(0, parts.owner.size() - dot.size());
  return Shorten(owner, room).append(dot).append(parts.method);
}

// ":120" of "a.B.run():120": a line distinguishes places of one routine.
std::string_view LineOf(std::string_view name) {
  const size_t digits = name.find_last_not_of("0123456789");
  const bool is_line = digits != std::string_view::npos && digits + 1 < name.size() &&
                       name[digits] == ':' && name.substr(0, digits).ends_with(")");
  return is_line ? name.substr(digits) : std::string_view();
}

// A name that is longer than `width`.
std::string ShortenOne(const std::string& whole, int width) {
  if (const std::string_view line = LineOf(whole); !line.empty()) {
    std::string name = whole.substr(0, whole.size() - line.size());
    const int room = width - static_cast<int>(line.size());
    if (DisplayWidth(name) > room) name = ShortenOne(name, room);
    return name.append(line);
  }
  const std::string& name = whole;
  if (!IsName(name) && SplitName(name).package.empty()) {
    // Markers and functions without a name stay; a sentence loses its middle.
    return name.starts_with('[') ? name : Shorten(name, width);
  }
  std::string shortened = name;
  size_t at = 0;
  while (DisplayWidth(shortened) > width && at < shortened.size()) {
    if (!AbbreviateSegment(shortened, at)) break;
  }
  if (DisplayWidth(shortened) <= width) return shortened;
  const NameParts parts = SplitName(shortened);
  if (DisplayWidth(parts.parameters) > DisplayWidth(kHidden)) {
    std::string hidden(parts.package);
    hidden.append(parts.owner).append(parts.method).append(kHidden);
    if (DisplayWidth(hidden) <= width) return hidden;
  }
  return WithoutParts(parts, width);
}

// "A > … > Y > Z": of a path the last names, and the first one if it fits.
std::string ShortenPath(std::string_view path, int width) {
  std::vector<std::string> names;
  for (size_t end = path.find(kJoint); end != std::string_view::npos; end = path.find(kJoint)) {
    names.emplace_back(path.substr(0, end));
    path.remove_prefix(end + kJoint.size());
  }
  constexpr std::string_view kLeftOut = "… > ";
  const int room = width - DisplayWidth(kLeftOut);
  std::string shown = ShortenName(path, room);
  if (DisplayWidth(shown) > room) return ShortenName(path, width);
  while (!names.empty()) {
    const bool is_first = names.size() == 1;
    const int left = (is_first ? width : room) - DisplayWidth(shown) - DisplayWidth(kJoint);
    const std::string next = left > 0 ? ShortenName(names.back(), left) : names.back();
    if (DisplayWidth(next) > left) break;
    shown.insert(0, kJoint).insert(0, next);
    names.pop_back();
  }
  return names.empty() ? shown : std::string(kLeftOut).append(shown);
}

}  // namespace

std::string Wrapped(std::string_view text, int width, int indent) {
  constexpr int kLeastRoom = 20;
  const int room = width > 0 ? std::max(width - indent, kLeastRoom) : 0;
  std::string wrapped;
  for (const std::string& line : WrapWords(text, room)) {
    if (!wrapped.empty()) wrapped.append(static_cast<size_t>(indent), ' ');
    wrapped.append(line).append("\n");
  }
  return wrapped;
}

std::string ShortenName(std::string_view raw_name, int width) {
  std::string name = Printable(raw_name);
  if (width <= 0 || DisplayWidth(name) <= width) return name;
  const size_t blanks = std::min(name.find_first_not_of(' '), name.size());
  const std::string text = name.substr(blanks);
  const int room = std::max(width - static_cast<int>(blanks), 1);
  const std::string_view kept = std::string_view(name).substr(0, blanks);
  return std::string(kept).append(text.find(kJoint) != std::string::npos ? ShortenPath(text, room)
                                                                         : ShortenOne(text, room));
}

std::string FitName(std::string_view name, int width, int used) {
  return ShortenName(name, width > 0 ? std::max(width - used, kLeastNameWidth) : 0);
}

const std::string& ShortNames::Shorten(std::string_view name, int width) {
  constexpr size_t kMostKept = 1 << 18;
  if (kept_.size() >= kMostKept) kept_.clear();
  const auto [entry, is_new] = kept_.try_emplace({name.data(), width});
  if (is_new) entry->second = ShortenName(name, width);
  return entry->second;
}

std::string_view ShortMethod(std::string_view routine) {
  const std::string_view name = WithoutParameters(routine);
  const size_t method = name.rfind('.');
  const size_t type = method == 0 || method == std::string_view::npos ? std::string_view::npos
                                                                      : name.rfind('.', method - 1);
  return type == std::string_view::npos ? name : name.substr(type + 1);
}

void AppendLeft(std::string& line, std::string_view text, int width) {
  line.append(static_cast<size_t>(std::max(0, width - DisplayWidth(text))), ' ').append(text);
}

std::string PadLeft(std::string_view text, int width) {
  std::string padded;
  AppendLeft(padded, text, width);
  return padded;
}

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
