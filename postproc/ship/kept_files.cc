#include "postproc/ship/kept_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <tuple>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "postproc/support/memory_limit.h"
#include "postproc/support/strings.h"

namespace jtrace::ship {
namespace {

using postproc::StrCat;

struct KeptFile {
  std::string name;
  absl::Time moved = {};  // a file's status changes when it is moved
  absl::Time modified = {};
  uint64_t size = 0;
};

// Other files that are there are not the shipper's.
std::optional<KeptFile> TraceOf(const OwnFolder& folder, const std::string& name) {
  const int fd = openat(folder.fd(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  const absl::Cleanup closed = [fd] { close(fd); };
  struct stat info;
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || !BeginsAsTrace(fd)) return std::nullopt;
  return KeptFile{.name = name,
                  .moved = absl::TimeFromTimespec(info.st_ctim),
                  .modified = absl::TimeFromTimespec(info.st_mtim),
                  .size = static_cast<uint64_t>(info.st_size)};
}

std::vector<KeptFile> NewestFirst(const OwnFolder& folder) {
  std::vector<KeptFile> files;
  for (const std::string& name : folder.Names()) {
    if (auto file = TraceOf(folder, name); file.has_value()) files.push_back(*std::move(file));
  }
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) {
    return std::tie(a.moved, a.modified) > std::tie(b.moved, b.modified);
  });
  return files;
}

}  // namespace

std::optional<absl::Duration> ParseTime(std::string_view text) {
  constexpr std::pair<std::string_view, int64_t> kUnits[] = {
      {"ms", 1}, {"s", 1'000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}};
  for (const auto& [unit, milliseconds] : kUnits) {
    constexpr int64_t kMost = 1'000'000;
    std::string_view digits = text;
    int64_t number = 0;
    const bool has_unit = postproc::ConsumeSuffix(digits, unit) && !digits.empty() &&
                          absl::ascii_isdigit(static_cast<unsigned char>(digits.back()));
    if (!has_unit) continue;
    if (!postproc::ParseInteger(digits, number) || number < 0 || number > kMost) break;
    return absl::Milliseconds(number * milliseconds);
  }
  return std::nullopt;
}

absl::Status SetKeep(std::string_view option, std::string_view text, Keep& keep) {
  if (text == "0") {
    keep = {.longest = absl::ZeroDuration(), .most_bytes = 0};
    return absl::OkStatus();
  }
  if (const std::optional<absl::Duration> time = ParseTime(text); time.has_value()) {
    keep.longest = *time;
    return absl::OkStatus();
  }
  std::string_view digits = text;
  if (digits.ends_with('B') || digits.ends_with('b')) digits.remove_suffix(1);
  if (const std::optional<uint64_t> bytes = postproc::ParseByteSize(digits); bytes.has_value()) {
    keep.most_bytes = *bytes;
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      StrCat(option, ": '", text, "' is not a time or size, such as 1d, 12h, 500MB, 1GB, or 0"));
}

size_t RemoveOldTraces(const OwnFolder& folder, const Keep& keep, absl::Time now) {
  uint64_t bytes = 0;
  size_t removed = 0;
  for (const KeptFile& file : NewestFirst(folder)) {
    bytes += file.size;
    const bool is_over = bytes > keep.most_bytes || now - file.moved > keep.longest;
    if (!is_over || !folder.Remove(file.name)) continue;
    folder.Remove(StrCat(NoteName(file.name), ".reason"));
    ++removed;
  }
  return removed;
}

size_t CountToDrop(const std::vector<SealedTrace>& oldest_first, uint64_t most) {
  uint64_t bytes = 0;
  for (const SealedTrace& trace : oldest_first) bytes += trace.size;
  size_t count = 0;
  while (count < oldest_first.size() && bytes > most) bytes -= oldest_first[count++].size;
  return count;
}

}  // namespace jtrace::ship
