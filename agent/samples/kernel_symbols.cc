#include "agent/samples/kernel_symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "agent/base/agent_file.h"

namespace jtrace::samples {
namespace {

// No function is longer: a symbol further below an address does not cover it.
constexpr uint64_t kMaxFunctionBytes = 1 << 20;
constexpr size_t kUsualSymbols = 100'000;
constexpr size_t kUsualNameBytes = 2u << 20;

bool IsBelow(uint64_t value, const KernelNames::Symbol& symbol) { return value < symbol.address; }

// A line of the table: "ffffffff81000000 T _stext" or "… t name\t[module]". A hidden address is 0.
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
  const AgentFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
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

// Numbers the owners of functions. The lines of one module follow each other in the table.
class Owners {
 public:
  uint32_t Of(std::string_view module) {
    if (module.empty()) return KernelNames::kKernel;
    if (module == "[bpf]" || module.rfind("[__builtin", 0) == 0) return KernelNames::kTransient;
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

constexpr char kFile[] = "kernel-names";
// Larger files are not loaded. The tables of kernels have some 3 MB.
constexpr uint64_t kMaxBytes = 64u << 20;

struct Header {
  char magic[8] = {'j', 't', 'r', 'a', 'c', 'e', 'K', '1'};
  uint64_t key_bytes;
  uint64_t symbols;
  uint64_t name_bytes;
};

// Opens the folder. Fails unless it is this user's and no other user can write to it.
AgentFd OpenFolder(const std::string& path) {
  AgentFd folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info = {};
  if (!folder.ok() || fstat(folder.get(), &info) != 0) return AgentFd();
  constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH;
  if (info.st_uid != geteuid() || (info.st_mode & kOthersWrite) != 0) return AgentFd();
  return folder;
}

// Reads or writes all bytes. `move`: read(2) or write(2).
template <typename Byte>
bool MoveAll(ssize_t (*move)(int, Byte*, size_t), int fd, Byte* bytes, size_t count) {
  auto* at = reinterpret_cast<std::conditional_t<std::is_const_v<Byte>, const char, char>*>(bytes);
  while (count != 0) {
    const ssize_t moved = move(fd, at, count);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return false;
    at += moved;
    count -= static_cast<size_t>(moved);
  }
  return true;
}

bool ReadAll(int fd, void* into, size_t count) { return MoveAll(&read, fd, into, count); }
bool WriteAll(int fd, const void* from, size_t count) { return MoveAll(&write, fd, from, count); }

bool IsWhole(const KernelNames& names) {
  if (names.names.empty() || names.names.back() != '\0') return false;
  for (const KernelNames::Symbol& symbol : names.symbols) {
    if (symbol.name >= names.names.size()) return false;
  }
  return true;
}

constexpr std::chrono::seconds kOld(10);

}  // namespace

std::string_view KernelNames::Find(uint64_t address) const {
  const auto after = std::upper_bound(symbols.begin(), symbols.end(), address, IsBelow);
  if (after == symbols.begin() || address - (after - 1)->address > kMaxFunctionBytes) return {};
  return names.c_str() + (after - 1)->name;
}

bool KernelNames::IsLasting(uint64_t address) const {
  const auto after = std::upper_bound(symbols.begin(), symbols.end(), address, IsBelow);
  return after != symbols.begin() && after != symbols.end() && after->owner != kTransient &&
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

KernelNamesFile::Paths KernelNamesFile::UsersPaths() {
  std::string folder;
  if (const char* const cache = secure_getenv("XDG_CACHE_HOME");
      cache != nullptr && cache[0] == '/') {
    folder = absl::StrCat(cache, "/jtrace");
  } else if (const char* const home = secure_getenv("HOME"); home != nullptr && home[0] == '/') {
    folder = absl::StrCat(home, "/.cache/jtrace");
  }
  return {.folder = std::move(folder)};
}

// A line of modules is "nfs 540672 1 lockd, Live 0xffffffffc0a00000". The users of a module and
// their number are left out: they change all the time. A kernel without modules has no such file.
std::string KernelNamesFile::Key() const {
  std::ifstream boot(paths_.boot_id);
  std::string key;
  if (!std::getline(boot, key)) return "";
  std::ifstream modules(paths_.modules);
  if (!modules.is_open() && access(paths_.modules.c_str(), F_OK) == 0) return "";
  std::string line;
  while (std::getline(modules, line)) {
    std::istringstream words(line);
    std::string name, size, users, by, state, address;
    words >> name >> size >> users >> by >> state >> address;
    absl::StrAppend(&key, "\n", name, " ", size, " ", state, " ", address);
  }
  return key;
}

std::optional<KernelNames> KernelNamesFile::Load(const std::string& key) const {
  const AgentFd folder = OpenFolder(paths_.folder);
  if (key.empty() || !folder.ok()) return std::nullopt;
  const AgentFd file(openat(folder.get(), kFile, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.ok() || !CheckAgentFile(file.get()).ok()) return std::nullopt;
  Header header;
  if (!ReadAll(file.get(), &header, sizeof(header)) ||
      std::memcmp(header.magic, Header{}.magic, sizeof(header.magic)) != 0 ||
      header.key_bytes != key.size() || header.symbols > kMaxBytes / sizeof(KernelNames::Symbol) ||
      header.name_bytes > kMaxBytes) {
    return std::nullopt;
  }
  std::string kept_key(key.size(), '\0');
  if (!ReadAll(file.get(), kept_key.data(), kept_key.size()) || kept_key != key) {
    return std::nullopt;
  }
  KernelNames kept;
  kept.symbols.resize(header.symbols);
  kept.names.resize(header.name_bytes);
  if (!ReadAll(file.get(), kept.symbols.data(), header.symbols * sizeof(KernelNames::Symbol)) ||
      !ReadAll(file.get(), kept.names.data(), kept.names.size()) || !IsWhole(kept)) {
    return std::nullopt;
  }
  return kept;
}

void KernelNamesFile::Save(const std::string& key, const KernelNames& names) const {
  if (key.empty() || names.symbols.empty()) return;
  mkdir(paths_.folder.substr(0, paths_.folder.rfind('/')).c_str(), 0700);
  mkdir(paths_.folder.c_str(), 0700);
  const AgentFd folder = OpenFolder(paths_.folder);
  if (!folder.ok()) return;
  // The file is complete before it gets its name, because other processes may read it meanwhile.
  const std::string made = absl::StrCat(kFile, ".", getpid());
  unlinkat(folder.get(), made.c_str(), 0);
  const AgentFd file(openat(folder.get(), made.c_str(),
                            O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.ok()) return;
  const Header header = {
      .key_bytes = key.size(), .symbols = names.symbols.size(), .name_bytes = names.names.size()};
  const bool written = WriteAll(file.get(), &header, sizeof(header)) &&
                       WriteAll(file.get(), key.data(), key.size()) &&
                       WriteAll(file.get(), names.symbols.data(),
                                names.symbols.size() * sizeof(KernelNames::Symbol)) &&
                       WriteAll(file.get(), names.names.data(), names.names.size());
  if (written && renameat(folder.get(), made.c_str(), folder.get(), kFile) == 0) return;
  unlinkat(folder.get(), made.c_str(), 0);
}

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
  if (is_first) file_.Save(key, names_);
}

std::string KernelSymbols::NameOf(uint64_t address) {
  ReadKept();
  if (was_kept_ ? !names_.IsLasting(address) : names_.Find(address).empty()) ReadIfOld();
  const std::string_view name = names_.Find(address);
  return name.empty() ? absl::StrFormat("[0x%x]", address) : std::string(name);
}

}  // namespace jtrace::samples
