#include "postproc/ship/ledger.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>

#include "absl/cleanup/cleanup.h"
#include "absl/container/flat_hash_set.h"
#include "postproc/ship/durable.h"
#include "postproc/support/strings.h"

namespace jtrace::ship {
namespace {

using postproc::StrCat;

std::string IdentityOf(const SealedTrace& trace) {
  return StrCat(trace.inode, " ", trace.modified_ns, " ", trace.size, "\n");
}

std::string KeyOf(const SealedTrace& trace) { return StrCat(trace.name, "\n", IdentityOf(trace)); }

std::string NotesFolder() { return StrCat(kOwnFolder, "/delivered"); }

std::string NotesOf(const std::string& target) { return StrCat(NotesFolder(), "/", target); }

// "" if there is none.
std::string ReadNote(const OwnFolder& folder, const std::string& name) {
  const int fd = openat(folder.fd(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return "";
  const absl::Cleanup closed = [fd] { close(fd); };
  std::array<char, 4096> buffer;
  const ssize_t n = read(fd, buffer.data(), buffer.size());
  return std::string(buffer.data(), n < 0 ? 0 : static_cast<size_t>(n));
}

}  // namespace

std::vector<std::string> Ledger::Targets() const {
  const auto folder = OwnFolder::Find(folder_, NotesFolder());
  return folder.ok() ? folder->Names() : std::vector<std::string>();
}

std::optional<std::string> Ledger::Answer(const SealedTrace& trace, const std::string& target) {
  const auto [known, is_new] = answers_[KeyOf(trace)].try_emplace(target);
  if (!is_new) return known->second;
  const auto folder = OwnFolder::Find(folder_, NotesOf(target));
  if (!folder.ok()) return std::nullopt;
  const std::string noted = ReadNote(*folder, NoteName(trace.name));
  std::string_view answer = noted;
  if (postproc::ConsumePrefix(answer, IdentityOf(trace))) known->second = std::string(answer);
  return known->second;
}

absl::Status Ledger::Note(const SealedTrace& trace, const std::string& target,
                          const std::string& answer) {
  const auto folder = OwnFolder::Make(folder_, NotesOf(target));
  if (!folder.ok()) return folder.status();
  absl::Status status =
      WriteDurably(*folder, NoteName(trace.name), StrCat(IdentityOf(trace), answer));
  if (status.ok()) answers_[KeyOf(trace)][target] = answer;
  return status;
}

void Ledger::Forget(const SealedTrace& trace) {
  for (const std::string& target : Targets()) {
    const auto folder = OwnFolder::Find(folder_, NotesOf(target));
    if (folder.ok()) folder->Remove(NoteName(trace.name));
  }
  answers_.erase(KeyOf(trace));
}

void Ledger::ForgetAllBut(const std::vector<SealedTrace>& traces) {
  absl::flat_hash_set<std::string> kept;
  absl::flat_hash_set<std::string> keys;
  for (const SealedTrace& trace : traces) {
    kept.insert(NoteName(trace.name));
    keys.insert(KeyOf(trace));
  }
  absl::erase_if(answers_, [&](const auto& entry) { return !keys.contains(entry.first); });
  for (const std::string& target : Targets()) {
    const auto folder = OwnFolder::Find(folder_, NotesOf(target));
    if (!folder.ok()) continue;
    for (const std::string& name : folder->Names()) {
      if (!kept.contains(name)) folder->Remove(name);
    }
  }
}

}  // namespace jtrace::ship
