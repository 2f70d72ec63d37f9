#include "agent/hooks/hook_targets.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "agent/hooks/displaced_instruction.h"
#include "agent/hooks/refusals.h"
#include "agent/hooks/site_table.h"
#include "proto/nearest.h"

namespace jtrace::hooks {
namespace {

absl::StatusOr<Function> AtOffset(const LoadedObject& object, const std::string& text) {
  const uintptr_t address = object.bias + std::strtoull(text.c_str(), nullptr, 16);
  if (!object.HasCodeAt(address)) {
    return absl::NotFoundError(absl::StrCat(text, " is not in the code of ", object.name));
  }
  Function function = FunctionAt(object, address);
  if (function.symbol.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("no function is known at ", text, " of ", object.name,
                     ", so nothing tells where its instructions begin"));
  }
  // Instruction by instruction from the function's begin.
  uintptr_t at = function.address;
  while (at < address) {
    const size_t left = std::min<size_t>(kMaxInstruction, function.address + function.size - at);
    const size_t length = InstructionLength(ReadCode(at, left));
    if (length == 0) break;
    at += length;
  }
  if (at != address) {
    return absl::InvalidArgumentError(
        absl::StrCat("no instruction of ", function.name, " begins at ", text));
  }
  if (address != function.address) {
    function.name = absl::StrFormat("%s+%#x", function.name, address - function.address);
    function.is_entry = false;
  }
  function.address = address;
  return function;
}

absl::Status NoFunction(const HookSpec& spec, const LoadedObject& object) {
  const std::string nearest = NearestFunction(object, spec.symbol);
  return absl::NotFoundError(
      absl::StrCat(object.name, " has no function '", spec.symbol, "'",
                   nearest.empty() ? "" : absl::StrCat("; did you mean '", nearest, "'?")));
}

// Of many functions, those that are refused are left out.
absl::Status AllRefused(const std::vector<Target>& targets) {
  absl::Status first;
  for (const Target& target : targets) {
    absl::Status status = MayHook(target.object, target.function);
    if (status.ok()) return status;
    if (first.ok()) first = std::move(status);
  }
  return first;
}

}  // namespace

std::string NearestObject(const std::vector<LoadedObject>& objects, const std::string& pattern) {
  return std::string(Nearest(
      pattern, objects, [](const LoadedObject& object) { return absl::string_view(object.name); }));
}

absl::StatusOr<std::vector<Target>> ResolveHook(const HookSpec& spec,
                                                const std::vector<LoadedObject>& objects) {
  std::vector<Target> targets;
  bool is_loaded = false;
  const LoadedObject* last = nullptr;
  for (const LoadedObject& object : objects) {
    if (!MatchesGlob(spec.object, object.name) && spec.object != object.path) continue;
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
  if (!is_loaded)
    return absl::UnavailableError(absl::StrCat("no object '", spec.object, "' is loaded"));
  if (targets.empty()) return NoFunction(spec, *last);
  if (targets.size() > kMostTargets) {
    return absl::InvalidArgumentError(absl::StrCat("'", spec.object, "!", spec.symbol, "' names ",
                                                   targets.size(), " functions, of at most ",
                                                   kMostTargets));
  }
  return targets;
}

absl::Status CheckHooks(const std::vector<HookSpec>& specs) {
  if (specs.empty()) return absl::OkStatus();
  const std::vector<LoadedObject> objects = LoadedObjects();
  for (const HookSpec& spec : specs) {
    if (spec.kind == HookKind::kOff) {
      return absl::InvalidArgumentError(
          "':off' takes hooks out of a recording that runs; use "
          "jtrace hook PID");
    }
    const auto targets = ResolveHook(spec, objects);
    if (absl::IsUnavailable(targets.status())) continue;  // it may be loaded later
    if (!targets.ok()) return targets.status();
    if (absl::Status status = AllRefused(*targets); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace jtrace::hooks
