#include "postproc/ship/kept_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/ascii.h"
#include "postproc/ship/durable.h"
#include "postproc/support/memory_limit.h"
#include "postproc/support/strings.h"

namespace jtrace::ship {
namespace {

using postproc::StrCat;

struct KeptFile {
  std::string path;
  absl::Time modified = {};
  uint64_t size = 0;
};

std::vector<KeptFile> NewestFirst(const std::string& folder) {
  std::vector<KeptFile> files;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    KeptFile file = {.path = it->path().string()};
    struct stat info;
    if (lstat(file.path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    file.modified = absl::TimeFromTimespec(info.st_mtim);
    file.size = static_cast<uint64_t>(info.st_size);
    files.push_back(std::move(file));
  }
  std::sort(files.begin(), files.end(),
            [](const auto& a, const auto& b) { return a.modified > b.modified; });
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

void RemoveOldFiles(const std::string& folder, const Keep& keep, absl::Time now) {
  uint64_t bytes = 0;
  for (const KeptFile& file : NewestFirst(folder)) {
    bytes += file.size;
    const bool is_over = bytes > keep.most_bytes || now - file.modified > keep.longest;
    if (is_over) RemoveFile(file.path);
  }
}

size_t CountToDrop(const std::vector<SealedTrace>& oldest_first, uint64_t most) {
  uint64_t bytes = 0;
  for (const SealedTrace& trace : oldest_first) bytes += trace.size;
  size_t count = 0;
  while (count < oldest_first.size() && bytes > most) bytes -= oldest_first[count++].size;
  return count;
}

}  // namespace jtrace::ship
