#include "postproc/cli/folder_swap.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "postproc/fleet/merged_runs.h"
#include "postproc/support/strings.h"

namespace jtrace::control {
namespace {

namespace fs = std::filesystem;
using postproc::StrCat;

constexpr char kNew[] = "_new";
constexpr char kMerged[] = "_merged";

absl::Status Failed(std::string_view what, const fs::path& path) {
  return absl::UnavailableError(StrCat("cannot ", what, " ", path.string(), ": ", strerror(errno)));
}

// So that the exchange is not on the disk before what it exchanges.
absl::Status Sync(const fs::path& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Failed("open", path);
  const absl::Cleanup close_it = [fd] { close(fd); };
  return fsync(fd) == 0 ? absl::OkStatus() : Failed("write", path);
}

absl::Status WriteNote(const fs::path& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  return out.good() ? Sync(file) : Failed("write", file);
}

absl::Status Exchange(const fs::path& one, const fs::path& other) {
  // glibc's function is younger than the systems that jtrace runs on.
  if (syscall(SYS_renameat2, AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) !=
      0) {
    return absl::FailedPreconditionError(
        StrCat("this file system cannot exchange two folders (", strerror(errno),
               "): ", one.string(), " stays as it is; copy the folder of tables to a local disk"));
  }
  if (absl::Status status = Sync(one.parent_path()); !status.ok()) return status;
  return Sync(other.parent_path());
}

std::vector<FileFacts> ReadMerged(const fs::path& folder) {
  std::vector<FileFacts> files;
  std::ifstream in(folder / kMerged);
  for (std::string line; std::getline(in, line);) {
    FileFacts& file = files.emplace_back();
    std::istringstream fields(line);
    fields >> file.size >> file.changed_ns >> file.inode;
    fields.ignore();
    std::getline(fields, file.name);
  }
  return files;
}

// "FILE.7.part", as OutputFile calls what it writes; "" if it is not one.
std::string_view WholeName(std::string_view name) {
  constexpr std::string_view kPart = ".part";
  if (!name.ends_with(kPart)) return "";
  name.remove_suffix(kPart.size());
  const size_t digits = name.find_last_not_of("0123456789");
  const bool has_number = digits != name.npos && digits + 1 < name.size() && name[digits] == '.';
  return has_number ? name.substr(0, digits) : "";
}

bool IsNote(std::string_view name) {
  return name == kNew || name == kMerged || name == postproc::fleet::kRunsNote ||
         WholeName(name) == postproc::fleet::kRunsNote;
}

// Spark skips names that begin with these, DuckDB does not: a merge must take neither side.
bool IsTable(std::string_view name) {
  return name.ends_with(".parquet") && !name.starts_with('_') && !name.starts_with('.');
}

// Of a merge that was killed; DuckDB writes into "tmp_…".
bool IsNewTable(std::string_view name) {
  if (name.starts_with("tmp_")) name.remove_prefix(4);
  return name.starts_with(kMergedFile);
}

struct Entries {
  std::vector<FileFacts> files;
  std::vector<FileFacts> strangers;
};

// All but the notes, by name.
absl::StatusOr<Entries> EntriesOf(const fs::path& folder) {
  Entries entries;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    struct stat facts = {};
    if (lstat(it->path().c_str(), &facts) != 0) continue;
    const bool is_regular = S_ISREG(facts.st_mode);
    if (is_regular && IsNote(name)) continue;
    const bool is_own = is_regular && (IsTable(name) || IsTable(WholeName(name)));
    (is_own ? entries.files : entries.strangers)
        .push_back({name, static_cast<uint64_t>(facts.st_size),
                    int64_t{facts.st_mtim.tv_sec} * 1'000'000'000 + facts.st_mtim.tv_nsec,
                    facts.st_ino});
  }
  if (error)
    return absl::UnavailableError(StrCat("cannot read ", folder.string(), ": ", error.message()));
  for (std::vector<FileFacts>* const list : {&entries.files, &entries.strangers}) {
    std::sort(list->begin(), list->end(),
              [](const FileFacts& a, const FileFacts& b) { return a.name < b.name; });
  }
  return entries;
}

// Removes these files and the notes, and then the folder if nothing else is in it. `_new` last:
// while it is there, the folder is known for what it is.
absl::Status RemoveFolder(const fs::path& folder, const std::vector<FileFacts>& files) {
  std::error_code error;
  std::vector<fs::path> notes;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name != kNew && IsNote(name)) notes.push_back(it->path());
  }
  for (const FileFacts& file : files) {
    if (!error) fs::remove(folder / file.name, error);
  }
  for (const fs::path& note : notes) {
    if (!error) fs::remove(note, error);
  }
  if (!error) fs::remove(folder / kNew, error);
  if (!error) fs::remove(folder, error);
  return error ? absl::UnavailableError(
                     StrCat("cannot remove ", folder.string(), ": ", error.message()))
               : absl::OkStatus();
}

absl::Status MoveFiles(const std::vector<FileFacts>& files, const fs::path& from,
                       const fs::path& to) {
  for (const FileFacts& file : files) {
    std::error_code error;
    fs::rename(from / file.name, to / file.name, error);
    if (error)
      return absl::UnavailableError(
          StrCat("cannot move ", (from / file.name).string(), ": ", error.message()));
  }
  return absl::OkStatus();
}

// `spare` has the new contents, and what was written into them while they were in place.
absl::Status TakeBack(const fs::path& current, const fs::path& spare) {
  const absl::StatusOr<Entries> entries = EntriesOf(spare);
  if (!entries.ok()) return entries.status();
  std::vector<FileFacts> made;
  std::vector<FileFacts> late = entries->strangers;
  for (const FileFacts& file : entries->files) {
    (IsNewTable(file.name) ? made : late).push_back(file);
  }
  if (absl::Status status = MoveFiles(late, spare, current); !status.ok()) return status;
  return RemoveFolder(spare, made);
}

bool HasName(const std::vector<FileFacts>& files, const std::string& name) {
  return std::any_of(files.begin(), files.end(),
                     [&](const FileFacts& file) { return file.name == name; });
}

}  // namespace

absl::StatusOr<std::vector<FileFacts>> FilesOf(const fs::path& folder) {
  absl::StatusOr<Entries> entries = EntriesOf(folder);
  if (!entries.ok()) return entries.status();
  return std::move(entries->files);
}

absl::StatusOr<std::string> StrangerIn(const fs::path& folder) {
  const absl::StatusOr<Entries> entries = EntriesOf(folder);
  if (!entries.ok()) return entries.status();
  return entries->strangers.empty() ? "" : entries->strangers.front().name;
}

absl::Status BeginSwap(const fs::path& current, const fs::path& spare) {
  std::error_code error;
  // Of an earlier swap that was killed at its very end.
  fs::remove(current / kNew, error);
  fs::create_directories(spare, error);
  if (error)
    return absl::UnavailableError(StrCat("cannot make ", spare.string(), ": ", error.message()));
  return WriteNote(spare / kNew, "");
}

absl::Status Swap(const fs::path& current, const fs::path& spare,
                  const std::vector<FileFacts>& merged) {
  std::string list;
  for (const FileFacts& file : merged) {
    postproc::StrAppend(&list, file.size, " ", file.changed_ns, " ", file.inode, " ", file.name,
                        "\n");
  }
  if (absl::Status status = WriteNote(spare / kMerged, list); !status.ok()) return status;
  const absl::StatusOr<std::vector<FileFacts>> files = FilesOf(spare);
  if (!files.ok()) return files.status();
  for (const FileFacts& file : *files) {
    if (absl::Status status = Sync(spare / file.name); !status.ok()) return status;
  }
  if (absl::Status status = Sync(spare); !status.ok()) return status;
  return Exchange(current, spare);
}

absl::StatusOr<bool> FinishSwap(const fs::path& current, const fs::path& spare) {
  std::error_code error;
  if (!fs::exists(spare / kNew, error)) {
    const absl::StatusOr<Entries> before = EntriesOf(spare);
    if (!before.ok()) return before.status();
    const std::vector<FileFacts> merged = ReadMerged(current);
    // What was written into the folder before the exchange.
    std::vector<FileFacts> late = before->strangers;
    std::copy_if(before->files.begin(), before->files.end(), std::back_inserter(late),
                 [&](const FileFacts& file) {
                   return std::find(merged.begin(), merged.end(), file) == merged.end();
                 });
    // Once one of them is removed, there is no way back.
    const bool is_whole = std::all_of(merged.begin(), merged.end(), [&](const FileFacts& file) {
      return HasName(before->files, file.name);
    });
    if (late.empty() || !is_whole) {
      if (absl::Status status = MoveFiles(late, spare, current); !status.ok()) return status;
      if (absl::Status status = RemoveFolder(spare, merged); !status.ok()) return status;
      fs::remove(current / kNew, error);
      return true;
    }
    if (absl::Status status = Exchange(current, spare); !status.ok()) return status;
  }
  if (absl::Status status = TakeBack(current, spare); !status.ok()) return status;
  return false;
}

}  // namespace jtrace::control
