#include "postproc/ship/ledger.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "absl/container/flat_hash_set.h"
#include "postproc/ship/durable.h"
#include "postproc/support/strings.h"

namespace jtrace::ship {
namespace {

using postproc::StrCat;

std::string IdentityOf(const SealedTrace& trace) {
  return StrCat(trace.inode, " ", trace.modified_ns, " ", trace.size, "\n");
}

std::string KeyOf(const SealedTrace& trace, const std::string& target) {
  return StrCat(target, "/", trace.name, "\n", IdentityOf(trace));
}

std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    names.push_back(it->path().filename().string());
  }
  return names;
}

}  // namespace

std::string Ledger::FileOf(const std::string& name, const std::string& target) const {
  return StrCat(folder_, "/", target, "/", name);
}

std::vector<std::string> Ledger::Targets() const { return NamesIn(folder_); }

bool Ledger::IsDelivered(const SealedTrace& trace, const std::string& target) {
  const std::string key = KeyOf(trace, target);
  if (delivered_.contains(key)) return true;
  if (missing_.contains(key)) return false;
  std::ifstream in(FileOf(trace.name, target));
  const std::string noted{std::istreambuf_iterator<char>(in), {}};
  const bool is_delivered = noted == IdentityOf(trace);
  (is_delivered ? delivered_ : missing_).insert(key);
  return is_delivered;
}

absl::Status Ledger::NoteDelivered(const SealedTrace& trace, const std::string& target) {
  if (absl::Status status = MakeFolder(StrCat(folder_, "/", target)); !status.ok()) return status;
  absl::Status status = WriteDurably(FileOf(trace.name, target), IdentityOf(trace));
  if (!status.ok()) return status;
  missing_.erase(KeyOf(trace, target));
  delivered_.insert(KeyOf(trace, target));
  return status;
}

void Ledger::Forget(const SealedTrace& trace) {
  for (const std::string& target : Targets()) {
    RemoveFile(FileOf(trace.name, target));
    delivered_.erase(KeyOf(trace, target));
    missing_.erase(KeyOf(trace, target));
  }
}

void Ledger::ForgetAllBut(const std::vector<SealedTrace>& traces) const {
  absl::flat_hash_set<std::string> kept;
  for (const SealedTrace& trace : traces) kept.insert(trace.name);
  for (const std::string& target : Targets()) {
    for (const std::string& name : NamesIn(StrCat(folder_, "/", target))) {
      if (!kept.contains(name)) RemoveFile(FileOf(name, target));
    }
  }
}

}  // namespace jtrace::ship
