#include "agent/sampling/kernel_symbols.h"

#include <string_view>
#include <utility>

#include "absl/strings/str_format.h"

namespace jtrace::sampling {
namespace {

constexpr std::chrono::seconds kOld(10);

}  // namespace

void KernelSymbols::ReadKept() {
  if (std::exchange(was_asked_, true) || !readable()) return;
  std::optional<KernelNames> kept = file_.Load(file_.Key());
  if (!kept.has_value()) return;
  names_ = *std::move(kept);
  was_kept_ = true;
}

void KernelSymbols::ReadIfOld() {
  const auto now = std::chrono::steady_clock::now();
  if (was_read_ && now - read_at_ <= kOld) return;
  const bool is_first = !std::exchange(was_read_, true) && !std::exchange(was_kept_, false);
  read_at_ = now;
  const std::string key = is_first ? file_.Key() : "";
  names_ = ReadKernelNames(path_);
  if (is_first) file_.Keep(key, names_);
}

std::string KernelSymbols::NameOf(uint64_t address) {
  ReadKept();
  if (was_kept_ ? !names_.IsLasting(address) : names_.Find(address).empty()) ReadIfOld();
  const std::string_view name = names_.Find(address);
  return name.empty() ? absl::StrFormat("[0x%x]", address) : std::string(name);
}

}  // namespace jtrace::sampling
