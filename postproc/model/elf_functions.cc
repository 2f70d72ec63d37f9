#include "postproc/model/elf_functions.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "postproc/model/call_site.h"
#include "postproc/model/thread_start.h"

namespace jtrace::postproc {
namespace {

constexpr std::string_view kSignalReturn = "__restore_rt";
constexpr std::string_view kClone3 = "clone3";

// "foo" of "foo.cold" and "foo.cold.12"; empty: the name is none of a rarely run part.
std::string_view ParentOfCold(std::string_view name) {
  constexpr std::string_view kCold = ".cold";
  const size_t at = name.rfind(kCold);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = name.substr(at + kCold.size());
  const bool is_numbered = rest.size() > 1 && rest[0] == '.' &&
                           rest.find_first_not_of("0123456789", 1) == std::string_view::npos;
  return rest.empty() || is_numbered ? name.substr(0, at) : std::string_view();
}

}  // namespace

absl::StatusOr<ElfFunctions> ElfFunctions::Parse(std::string_view content) {
  absl::StatusOr<ElfImage> image = ElfImage::Parse(content);
  if (!image.ok()) return image.status();
  return ElfFunctions(*std::move(image));
}

ElfFunctions::ElfFunctions(ElfImage image)
    : image_(std::move(image)), symbols_(image_), unwind_(image_) {}

void ElfFunctions::AddSymbols(const ElfImage& debug) { symbols_.Add(debug); }

bool ElfFunctions::StartsThreads(const ElfFunction& function) {
  const std::string_view name = function.symbol.substr(
      std::min(function.symbol.find_first_not_of('_'), function.symbol.size()));
  return name == kClone3 || name == "clone";
}

ElfFunction ElfFunctions::At(uint64_t address) const {
  const ElfSymbols::Symbol* symbol = symbols_.Find(address);
  const bool is_certain = symbol != nullptr && symbol->size != 0;
  // The tables lie all over the file: they are read only where symbols do not do.
  const auto range = is_certain ? std::nullopt : unwind_.Find(image_, address);
  ElfFunction function;
  // A symbol without a size ends where another function begins.
  if (symbol != nullptr && (!range.has_value() || symbol->address >= range->start)) {
    function.start = symbol->address;
    function.symbol = symbol->name;
    function.is_signal_frame = symbol->name == kSignalReturn;
  } else if (range.has_value()) {
    function.start = range->start;
    function.is_signal_frame = range->is_signal_frame;
  }
  // A range of its own, without a symbol.
  if (const auto clone3 = function.symbol.empty() ? FindClone3(image_, address) : std::nullopt) {
    function.start = *clone3;
    function.symbol = kClone3;
  }
  return function;
}

ElfCall ElfFunctions::CallBefore(uint64_t return_address) {
  ElfCall call;
  const std::optional<uint64_t> target = DirectCallTarget(image_, return_address);
  if (!target.has_value()) return call;
  const ElfFunction function = At(*target);
  const std::optional<uint64_t> slot =
      function.symbol.empty() ? JumpSlot(image_, *target) : std::nullopt;
  if (slot.has_value()) {
    if (!imports_.has_value()) imports_.emplace(image_);
    call.import = imports_->NameOfSlot(*slot);
    if (!call.import.empty()) call.function = function;
  } else if (IsEntry(*target, function)) {
    // Else these bytes were not a call, or it enters a function in its middle.
    call.function = function;
  }
  return call;
}

bool ElfFunctions::IsEntry(uint64_t address, const ElfFunction& function) const {
  if (address == function.start) return true;
  const auto range = unwind_.Find(image_, address);
  return range.has_value() && range->start == address;
}

ElfFunction ElfFunctions::Exported(std::string_view name) const {
  const uint64_t address = FindExported(image_, name);
  return address == 0 ? ElfFunction() : At(address);
}

bool ElfFunctions::IsPartOf(const ElfFunction& code, const ElfFunction& other) const {
  if (code.start == other.start) return true;
  const auto range = unwind_.Find(image_, code.start);
  if (range.has_value() && other.start >= range->start && other.start < range->end) return true;
  const std::string_view parent = ParentOfCold(code.symbol);
  if (parent.empty()) return range.has_value() && range->is_fragment;
  const std::vector<uint64_t> parents = symbols_.Named(parent);
  return parents.empty() || std::find(parents.begin(), parents.end(), other.start) != parents.end();
}

}  // namespace jtrace::postproc
