#include "agent/sampling/kernel_names_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <sstream>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/base/own_fd.h"
#include "agent/base/own_file.h"

namespace jtrace::sampling {
namespace {

constexpr char kFile[] = "kernel-names";
// Far above the tables of kernels: 3 MB.
constexpr uint64_t kMostBytes = 64u << 20;

struct Header {
  char magic[8] = {'j', 't', 'r', 'a', 'c', 'e', 'K', '1'};
  uint64_t key_bytes;
  uint64_t symbols;
  uint64_t name_bytes;
};

// The folder, which only this user can write to.
OwnFd OpenFolder(const std::string& path) {
  OwnFd folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info = {};
  if (!folder.ok() || fstat(folder.get(), &info) != 0) return OwnFd();
  constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH;
  if (info.st_uid != geteuid() || (info.st_mode & kOthersWrite) != 0) return OwnFd();
  return folder;
}

// `move`: read or write.
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

}  // namespace

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

// A line of modules is "nfs 540672 1 lockd, Live 0xffffffffc0a00000"; the number of users and who
// they are changes all the time. A kernel without modules has no list of them.
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
  const OwnFd folder = OpenFolder(paths_.folder);
  if (key.empty() || !folder.ok()) return std::nullopt;
  const OwnFd file(openat(folder.get(), kFile, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.ok() || !CheckOwnFile(file.get()).ok()) return std::nullopt;
  Header header;
  if (!ReadAll(file.get(), &header, sizeof(header)) ||
      std::memcmp(header.magic, Header{}.magic, sizeof(header.magic)) != 0 ||
      header.key_bytes != key.size() || header.symbols > kMostBytes / sizeof(KernelNames::Symbol) ||
      header.name_bytes > kMostBytes) {
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

void KernelNamesFile::Keep(const std::string& key, const KernelNames& names) const {
  if (key.empty() || names.symbols.empty()) return;
  mkdir(paths_.folder.substr(0, paths_.folder.rfind('/')).c_str(), 0700);
  mkdir(paths_.folder.c_str(), 0700);
  const OwnFd folder = OpenFolder(paths_.folder);
  if (!folder.ok()) return;
  // Complete before it gets its name: others may read it meanwhile.
  const std::string made = absl::StrCat(kFile, ".", getpid());
  unlinkat(folder.get(), made.c_str(), 0);
  const OwnFd file(openat(folder.get(), made.c_str(),
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

}  // namespace jtrace::sampling
