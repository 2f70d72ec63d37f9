#include "agent/native_hooks/hook_spec.h"

#include <array>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace jtrace::native_hooks {
namespace {

constexpr std::array<std::pair<absl::string_view, HookKind>, 4> kKinds = {{
    {"count", HookKind::kCount},
    {"unwind", HookKind::kUnwind},
    {"time", HookKind::kTime},
    {"off", HookKind::kOff},
}};

// Position of the colon before the kind; npos: there is none, only colons of C++ names: a::b,
// f[abi:cxx11](int).
size_t KindColon(absl::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == absl::string_view::npos || colon == 0) return absl::string_view::npos;
  const bool is_of_name =
      text[colon - 1] == ':' || text.find_first_of("])}>", colon) != absl::string_view::npos;
  return is_of_name ? absl::string_view::npos : colon;
}

// "com.acme.Cache::load"; what its parts may be is the scope's business.
bool IsMethodName(absl::string_view place) {
  const size_t colons = place.find("::");
  return colons != absl::string_view::npos && colons != 0 && colons + 2 != place.size();
}

}  // namespace

absl::string_view HookKindName(HookKind kind) {
  for (const auto& [name, known] : kKinds) {
    if (known == kind) return name;
  }
  return "";
}

absl::StatusOr<HookSpec> ParseHookSpec(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  HookSpec spec;
  absl::string_view place = text;
  if (const size_t colon = KindColon(text); colon != absl::string_view::npos) {
    const absl::string_view word = text.substr(colon + 1);
    bool is_known = false;
    for (const auto& [name, kind] : kKinds) {
      if (name != word) continue;
      spec.kind = kind;
      is_known = true;
    }
    if (!is_known) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", word, "' is not a kind of hook; use count, unwind, time or off"));
    }
    place = text.substr(0, colon);
  }
  const size_t mark = place.find('!');
  if (mark == absl::string_view::npos && IsMethodName(place)) {
    spec.symbol = std::string(place);
    return spec;
  }
  // After a name that ends in a colon a kind could not be read back.
  if (mark == absl::string_view::npos || mark == 0 || mark + 1 == place.size() ||
      place.back() == ':') {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text,
                     "' names no function of native code; write libc.so.6!malloc:count, or "
                     "com.acme.Cache::load for a Java method"));
  }
  spec.object = std::string(place.substr(0, mark));
  spec.symbol = std::string(place.substr(mark + 1));
  return spec;
}

absl::StatusOr<std::vector<HookSpec>> ParseHookSpecs(absl::string_view text) {
  std::vector<HookSpec> specs;
  for (absl::string_view one : absl::StrSplit(text, ';', absl::SkipWhitespace())) {
    auto spec = ParseHookSpec(one);
    if (!spec.ok()) return spec.status();
    specs.push_back(*std::move(spec));
  }
  if (specs.empty()) {
    return absl::InvalidArgumentError("needs a function such as libc.so.6!malloc:count");
  }
  return specs;
}

std::string HookSpecText(const HookSpec& spec) {
  return absl::StrCat(spec.object, spec.IsMethod() ? "" : "!", spec.symbol, ":",
                      HookKindName(spec.kind));
}

}  // namespace jtrace::native_hooks
