#include "agent/sampling/kernel_symbols.h"

#include <algorithm>
#include <charconv>
#include <fstream>

#include "absl/strings/str_format.h"

namespace jtrace::sampling {
namespace {

constexpr std::chrono::seconds kOld(10);
// A symbol that begins further below an address than the longest function does not cover it.
constexpr uint64_t kLongestFunction = 1 << 20;

// "ffffffff81000000 T _stext" or "… t name	[module]": the address and name of code. The address
// is 0 if it is hidden.
bool ParseLine(std::string_view line, uint64_t* address, std::string_view* name) {
  const char* const end = line.data() + line.size();
  const auto [rest, error] = std::from_chars(line.data(), end, *address, 16);
  if (error != std::errc() || end - rest < 4) return false;
  constexpr std::string_view kCode = "tTwW";
  if (kCode.find(rest[1]) == std::string_view::npos) return false;
  *name = std::string_view(rest + 3, static_cast<size_t>(end - rest - 3));
  *name = name->substr(0, name->find_first_of("\t "));
  return true;
}

}  // namespace

void KernelSymbols::Read() {
  was_read_ = true;
  read_at_ = std::chrono::steady_clock::now();
  symbols_.clear();
  names_.clear();
  std::ifstream file(path_);
  std::string line;
  while (std::getline(file, line)) {
    uint64_t address;
    std::string_view name;
    if (!ParseLine(line, &address, &name) || address == 0) continue;
    symbols_.push_back({address, static_cast<uint32_t>(names_.size())});
    names_.append(name).push_back('\0');
  }
  std::stable_sort(symbols_.begin(), symbols_.end(),
                   [](const Symbol& a, const Symbol& b) { return a.address < b.address; });
}

void KernelSymbols::ReadIfOld() {
  if (!was_read_ || std::chrono::steady_clock::now() - read_at_ > kOld) Read();
}

bool KernelSymbols::readable() const {
  std::ifstream file(path_);
  std::string line;
  while (std::getline(file, line)) {
    uint64_t address;
    std::string_view name;
    if (ParseLine(line, &address, &name)) return address != 0;
  }
  return false;
}

std::string_view KernelSymbols::Find(uint64_t address) const {
  const auto after =
      std::upper_bound(symbols_.begin(), symbols_.end(), address,
                       [](uint64_t value, const Symbol& symbol) { return value < symbol.address; });
  if (after == symbols_.begin() || address - (after - 1)->address > kLongestFunction) return {};
  return names_.c_str() + (after - 1)->name;
}

std::string KernelSymbols::NameOf(uint64_t address) {
  if (!was_read_) Read();
  std::string_view name = Find(address);
  if (name.empty()) {
    ReadIfOld();
    name = Find(address);
  }
  return name.empty() ? absl::StrFormat("[0x%x]", address) : std::string(name);
}

}  // namespace jtrace::sampling
