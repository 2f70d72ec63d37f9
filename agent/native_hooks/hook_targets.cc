#include "agent/native_hooks/hook_targets.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "agent/native_hooks/displaced_instruction.h"
#include "agent/native_hooks/hook_handler.h"
#include "agent/native_hooks/patch_site_table.h"
#include "agent/native_hooks/refusals.h"
#include "common/glob.h"
#include "common/nearest.h"

namespace jtrace::native_hooks {
namespace {

// How the state of an object's file explains that a function is not found; "": it does not.
std::string AboutFile(const LoadedDso& object) {
  switch (StateOfFile(object)) {
    case FileState::kSame:
      break;
    case FileState::kReplaced:
      return absl::StrCat("; its file ", object.path,
                          " was replaced since it was loaded, so only what it exports is known: "
                          "restart the program");
    case FileState::kGone:
      return absl::StrCat("; its file ", object.path,
                          " no longer exists, so only what it exports is known: keep the "
                          "file, or name an exported function");
  }
  return "";
}

// Whether an instruction begins at `address`, decoding from the function's begin.
bool IsInstruction(const Function& function, uintptr_t address) {
  uintptr_t at = function.address;
  while (at < address) {
    const size_t left = std::min<size_t>(kMaxInstruction, function.address + function.size - at);
    const size_t length = InstructionLength(ReadCode(at, left));
    if (length == 0) break;
    at += length;
  }
  return at == address;
}

absl::StatusOr<uintptr_t> AddressOf(const LoadedDso& object, const std::string& text) {
  uint64_t offset = 0;
  if (!absl::SimpleHexAtoi(text, &offset)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' is not an address of the file such as 0x12f0"));
  }
  if (StateOfFile(object) == FileState::kReplaced) {
    return absl::FailedPreconditionError(absl::StrCat(text, " may be anything in ", object.name,
                                                      AboutFile(object),
                                                      ", or name an exported function"));
  }
  const uintptr_t address = object.bias + offset;
  if (object.HasCodeAt(address)) return address;
  return absl::NotFoundError(absl::StrCat(text, " is not in the code of ", object.name));
}

absl::StatusOr<Function> AtOffset(const LoadedDso& object, const std::string& text) {
  const auto address = AddressOf(object, text);
  if (!address.ok()) return address.status();
  Function function = FunctionAt(object, *address);
  if (function.symbol.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("no function is known at ", text, " of ", object.name,
                     ", so the starts of its instructions are unknown", AboutFile(object)));
  }
  if (*address == function.address) return function;
  if (object.IsLibc()) {
    return absl::FailedPreconditionError(
        absl::StrCat("no hook at ", text, " of ", object.name,
                     ": inside of libc's functions signals may be blocked; hook the entry of '",
                     function.name, "'"));
  }
  if (!IsInstruction(function, *address)) {
    return absl::InvalidArgumentError(
        absl::StrCat("no instruction of ", function.name, " begins at ", text));
  }
  function.name = absl::StrFormat("%s+%#x", function.name, *address - function.address);
  function.is_entry = false;
  function.address = *address;
  return function;
}

absl::Status NoFunction(const HookSpec& spec, const LoadedDso& object,
                        const std::vector<LoadedDso>& objects) {
  if (const uintptr_t elsewhere = IfuncTargetElsewhere(object, spec.symbol); elsewhere != 0) {
    const auto other = std::find_if(objects.begin(), objects.end(),
                                    [&](const LoadedDso& o) { return o.HasCodeAt(elsewhere); });
    return absl::NotFoundError(absl::StrCat(
        object.name, " takes '", spec.symbol, "' from ",
        other == objects.end() ? "the kernel's vdso, where no hook is possible; hook its caller"
                               : absl::StrCat(other->name, "; hook it there")));
  }
  const std::string nearest = NearestFunction(object, spec.symbol);
  return absl::NotFoundError(absl::StrCat(
      object.name, " has no function '", spec.symbol, "'",
      nearest.empty() ? "" : absl::StrCat("; did you mean '", nearest, "'?"), AboutFile(object)));
}

// Returns the first refusal if all are refused; if only some are, the others get their hooks.
absl::Status AllRefused(const std::vector<Target>& targets) {
  absl::Status first;
  for (const Target& target : targets) {
    absl::Status status = MayHook(target.object, target.function);
    if (status.ok()) return status;
    if (first.ok()) first = std::move(status);
  }
  return first;
}

constexpr std::array<std::pair<absl::string_view, HookKind>, 4> kKinds = {{
    {"count", HookKind::kCount},
    {"unwind", HookKind::kUnwind},
    {"time", HookKind::kTime},
    {"off", HookKind::kOff},
}};

// Returns the position of the colon before the kind; npos: all colons are of C++ names, such as
// a::b or f[abi:cxx11](int).
size_t KindColon(absl::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == absl::string_view::npos || colon == 0) return absl::string_view::npos;
  const bool is_of_name =
      text[colon - 1] == ':' || text.find_first_of("])}>", colon) != absl::string_view::npos;
  return is_of_name ? absl::string_view::npos : colon;
}

// Whether it has the form of "com.acme.Cache::load". Its parts are not checked here.
bool IsMethodName(absl::string_view place) {
  const size_t colons = place.find("::");
  return colons != absl::string_view::npos && colons != 0 && colons + 2 != place.size();
}

}  // namespace

std::string NearestObject(const std::vector<LoadedDso>& objects, const std::string& pattern) {
  return std::string(Nearest(
      pattern, objects, [](const LoadedDso& object) { return absl::string_view(object.name); }));
}

absl::StatusOr<std::vector<Target>> ResolveHook(const HookSpec& spec,
                                                const std::vector<LoadedDso>& objects) {
  std::vector<Target> targets;
  bool is_loaded = false;
  const LoadedDso* last = nullptr;
  for (const LoadedDso& object : objects) {
    if (!GlobMatches(spec.object, object.name) && spec.object != object.path) continue;
    last = &object;
    is_loaded = true;
    if (absl::StartsWith(spec.symbol, "0x")) {
      auto function = AtOffset(object, spec.symbol);
      if (!function.ok()) return function.status();
      targets.push_back({object, *std::move(function)});
      continue;
    }
    for (Function& function : FindFunctions(object, spec.symbol)) {
      targets.push_back({object, std::move(function)});
    }
  }
  if (!is_loaded) {
    return absl::UnavailableError(absl::StrCat("no object '", spec.object, "' is loaded"));
  }
  if (targets.empty()) return NoFunction(spec, *last, objects);
  if (targets.size() > kMaxTargets) {
    return absl::InvalidArgumentError(absl::StrCat("'", spec.object, "!", spec.symbol, "' names ",
                                                   targets.size(), " functions, of at most ",
                                                   kMaxTargets));
  }
  return targets;
}

absl::Status CheckHookSpecs(const std::vector<HookSpec>& specs) {
  if (specs.empty()) return absl::OkStatus();
  if (!kHasHooks) return absl::UnimplementedError("hooks need x86-64");
  const std::vector<LoadedDso> objects = LoadedDsos();
  for (const HookSpec& spec : specs) {
    if (spec.kind == HookKind::kOff) {
      return absl::InvalidArgumentError(
          "':off' removes hooks from a running recording; use "
          "jtrace hook PID");
    }
    const auto targets = ResolveHook(spec, objects);
    if (absl::IsUnavailable(targets.status())) continue;  // it may be loaded later
    if (!targets.ok()) return targets.status();
    if (absl::Status status = AllRefused(*targets); !status.ok()) return status;
  }
  return absl::OkStatus();
}

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
  // HookSpecText of a name that ends in a colon could not be parsed again.
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
