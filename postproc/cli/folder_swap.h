// A folder of files gets other contents in one step: a reader that lists it sees either the files
// of before or those of after, and so does the next process if this one is killed.
//
// The new contents are made in a folder beside it, `spare`, which the kernel then exchanges with
// `current`. Names that begin with "_" are notes of the swap:
//   _new      the folder has the new contents: while `spare` has it, they are not in place
//   _merged   in the new contents: the files of before that they stand for, as they were read
// and _runs, which is postproc/fleet/merged_runs.h's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace jtrace::control {

// How the names of files begin that a swap brings.
inline constexpr std::string_view kMergedFile = "merged-";

struct FileFacts {
  std::string name;
  uint64_t size = 0;
  int64_t changed_ns = 0;
  uint64_t inode = 0;
  bool operator==(const FileFacts&) const = default;
};

// The tables, and what conversions write now or left when they were killed ("….parquet.7.part"),
// by name.
absl::StatusOr<std::vector<FileFacts>> FilesOf(const std::filesystem::path& folder);

// The first name of what is neither of these nor a note, such as a subfolder; "" if there is none.
// A swap would hide it.
absl::StatusOr<std::string> StrangerIn(const std::filesystem::path& folder);

// Makes an empty `spare`, of which there must be none.
absl::Status BeginSwap(const std::filesystem::path& current, const std::filesystem::path& spare);

// Exchanges the folders. `merged` are the files of `current` that those of `spare` stand for.
// FailedPrecondition: the file system cannot; nothing has changed then.
absl::Status Swap(const std::filesystem::path& current, const std::filesystem::path& spare,
                  const std::vector<FileFacts>& merged);

// After Swap, or in the place of a process that was killed at any time after BeginSwap: removes
// `spare`, of which only the merged files and the notes are deleted. True: `current` has the new
// contents. False: it has those of before, and what was written meanwhile, because something was.
absl::StatusOr<bool> FinishSwap(const std::filesystem::path& current,
                                const std::filesystem::path& spare);

}  // namespace jtrace::control
