#include "postproc/model/frame_name.h"

#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

constexpr std::string_view kPrefixes = "JCINVK";
constexpr std::string_view kOperator = "operator";
constexpr std::string_view kTailCall = " [tail call]";  // behind the module

bool HasPrefix(std::string_view text) {
  return text.size() >= 2 && text[1] == ':' && kPrefixes.find(text[0]) != std::string_view::npos &&
         (text.size() == 2 || text[2] != ':');
}

bool MayHaveModule(Origin origin) {
  return origin == Origin::kNative || origin == Origin::kVm || origin == Origin::kKernel;
}

// Position of the '!' behind the module's name, or npos.
size_t ModuleEnd(std::string_view text) {
  const size_t mark = text.find('!');
  if (mark == std::string_view::npos || text.substr(0, mark).ends_with(kOperator)) {
    return std::string_view::npos;
  }
  return mark;
}

}  // namespace

FrameName ParseFrameName(std::string_view text) {
  FrameName frame;
  frame.name = text;
  if (!HasPrefix(text)) return frame;
  frame.origin = static_cast<Origin>(text[0]);
  frame.name.remove_prefix(2);
  if (!MayHaveModule(frame.origin)) return frame;
  if (const size_t end = ModuleEnd(frame.name); end != std::string_view::npos) {
    frame.module = frame.name.substr(0, end);
    frame.name.remove_prefix(end + 1);
  }
  if (frame.module.ends_with(kTailCall)) {
    frame.module.remove_suffix(kTailCall.size());
    frame.is_tail_call = true;
  }
  return frame;
}

std::string FormatFrameName(const FrameName& frame) {
  std::string text;
  if (frame.origin != Origin::kNone) {
    text.push_back(static_cast<char>(frame.origin));
    text.push_back(':');
  } else if (HasPrefix(frame.name)) {
    text = "J:";  // else the name's first letter would be taken for a prefix
  }
  if (MayHaveModule(frame.origin)) {
    // An empty module keeps a '!' of the name, or a leading ':', from being misread.
    const bool ambiguous =
        ModuleEnd(frame.name) != std::string_view::npos || frame.name.starts_with(":");
    if (!frame.module.empty() || frame.is_tail_call || ambiguous) {
      text.append(frame.module);
      if (frame.is_tail_call) text.append(kTailCall);
      text.push_back('!');
    }
  }
  text.append(frame.name);
  return text;
}

std::string_view NormalizeName(std::string_view text, std::string& storage) {
  if (text.find("> >") == std::string_view::npos) return text;
  storage = text;
  while (ReplaceAll(storage, "> >", ">>")) {
  }
  return storage;
}

std::string_view WithoutParameters(std::string_view name) {
  size_t from = 0;
  while (true) {
    const size_t open = name.find('(', from);
    if (open == std::string_view::npos) return name;
    if (name.substr(open).starts_with("(anonymous namespace)")) {
      from = open + 1;
    } else if (name.substr(0, open).ends_with(kOperator)) {
      from = open + 2;  // operator()
    } else {
      return name.substr(0, open);
    }
  }
}

bool RoutineMatches(std::string_view pattern, std::string_view name) {
  if (pattern == name || pattern == WithoutParameters(name)) return true;
  std::string dotted(pattern);
  if (!ReplaceAll(dotted, "::", ".")) return false;
  return dotted == name || dotted == WithoutParameters(name);
}

}  // namespace jtrace::postproc
