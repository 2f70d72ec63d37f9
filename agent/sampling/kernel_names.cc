#include "agent/sampling/kernel_names.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "absl/functional/function_ref.h"
#include "agent/base/own_fd.h"

namespace jtrace::sampling {
namespace {

// A symbol that begins further below an address than the longest function does not cover it.
constexpr uint64_t kLongestFunction = 1 << 20;
constexpr size_t kUsualSymbols = 100'000;
constexpr size_t kUsualNameBytes = 2u << 20;

bool IsBelow(uint64_t value, const KernelNames::Symbol& symbol) { return value < symbol.address; }

// A function: "ffffffff81000000 T _stext" or "… t name	[module]". The address is 0 if it is
// hidden.
struct Function {
  uint64_t address = 0;
  std::string_view name;
  std::string_view module;  // "[module]"; "" for the kernel itself
};

bool ParseLine(std::string_view line, Function* function) {
  const char* const end = line.data() + line.size();
  const auto [rest, error] = std::from_chars(line.data(), end, function->address, 16);
  if (error != std::errc() || end - rest < 4) return false;
  constexpr std::string_view kCode = "tTwW";
  if (kCode.find(rest[1]) == std::string_view::npos) return false;
  const std::string_view words(rest + 3, static_cast<size_t>(end - rest - 3));
  const size_t tab = words.find_first_of("\t ");
  function->name = words.substr(0, tab);
  function->module = tab == std::string_view::npos ? "" : words.substr(tab + 1);
  return true;
}

// Calls `take` with each line, without its end, until it returns false. The kernel formats the text
// as it is read, a page at a time.
void ForEachLine(const std::string& path, absl::FunctionRef<bool(std::string_view)> take) {
  const OwnFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.ok()) return;
  char buffer[8192];
  size_t kept = 0;
  while (true) {
    const ssize_t got = read(file.get(), buffer + kept, sizeof(buffer) - kept);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    const char* const end = buffer + kept + got;
    const char* line = buffer;
    while (const void* const at = std::memchr(line, '\n', static_cast<size_t>(end - line))) {
      const char* const line_end = static_cast<const char*>(at);
      if (!take({line, static_cast<size_t>(line_end - line)})) return;
      line = line_end + 1;
    }
    kept = static_cast<size_t>(end - line);
    if (kept == sizeof(buffer)) kept = 0;  // no symbol has such a name
    std::memmove(buffer, line, kept);
  }
}

// Lines of one module follow each other.
class Owners {
 public:
  uint32_t Of(std::string_view module) {
    if (module.empty()) return KernelNames::kKernel;
    if (module == "[bpf]" || module.rfind("[__builtin", 0) == 0) return KernelNames::kPassing;
    if (module != last_) {
      last_ = module;
      ++number_;
    }
    return number_;
  }

 private:
  std::string last_;
  uint32_t number_ = 0;
};

}  // namespace

std::string_view KernelNames::Find(uint64_t address) const {
  const auto after = std::upper_bound(symbols.begin(), symbols.end(), address, IsBelow);
  if (after == symbols.begin() || address - (after - 1)->address > kLongestFunction) return {};
  return names.c_str() + (after - 1)->name;
}

bool KernelNames::IsLasting(uint64_t address) const {
  const auto after = std::upper_bound(symbols.begin(), symbols.end(), address, IsBelow);
  return after != symbols.begin() && after != symbols.end() && after->owner != kPassing &&
         (after - 1)->owner == after->owner;
}

KernelNames ReadKernelNames(const std::string& path) {
  KernelNames read;
  Owners owners;
  ForEachLine(path, [&](std::string_view line) {
    Function function;
    if (!ParseLine(line, &function)) return true;
    if (function.address == 0) return !read.symbols.empty();
    if (read.symbols.empty()) {
      read.symbols.reserve(kUsualSymbols);
      read.names.reserve(kUsualNameBytes);
    }
    read.symbols.push_back(
        {function.address, static_cast<uint32_t>(read.names.size()), owners.Of(function.module)});
    read.names.append(function.name).push_back('\0');
    return true;
  });
  std::stable_sort(read.symbols.begin(), read.symbols.end(),
                   [](const auto& a, const auto& b) { return a.address < b.address; });
  return read;
}

bool KernelNamesReadable(const std::string& path) {
  bool readable = false;
  ForEachLine(path, [&readable](std::string_view line) {
    Function function;
    if (!ParseLine(line, &function)) return true;
    readable = function.address != 0;
    return false;
  });
  return readable;
}

}  // namespace jtrace::sampling
