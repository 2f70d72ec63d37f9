#include "agent/options/file_options.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "agent/options/option_values.h"

namespace jtrace {
namespace {

constexpr uint64_t kMinLoopBytes = 1 << 20;

}  // namespace

absl::Status ParseLoop(absl::string_view value, Loop& loop) {
  // Times are tried first: 10m is minutes.
  if (ParseSeconds(value, loop.time)) return absl::OkStatus();
  if (ParseBytes(value, loop.bytes).ok()) {
    // Each file begins with the names of everything that is loaded.
    return loop.bytes >= kMinLoopBytes
               ? absl::OkStatus()
               : absl::InvalidArgumentError("a file has at least 1MB: loop=1MB");
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", value, "' is neither a time such as 1h nor a size such as 100MB"));
}

absl::Status ParseKeep(absl::string_view value, Keep& keep) {
  uint64_t files = 0;
  absl::Duration time;
  if (absl::SimpleAtoi(value, &files)) {
    if (files != 0 && files <= Keep::kMaxFiles) {
      keep.files = files;
      return absl::OkStatus();
    }
  } else if (ParseSeconds(value, time)) {
    // loop=10m is a time, so keep=10m must not be a size.
    return absl::InvalidArgumentError(absl::StrCat(
        "'", value, "' is a time; give a size such as 10MB or a number of files such as 60"));
  } else if (ParseBytes(value, keep.bytes).ok()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", value, "' is neither a size such as 1GB nor a number of files from 1 to ",
                   Keep::kMaxFiles));
}

absl::Status CheckKeep(const Loop& loop, const Keep& keep) {
  if (!keep.on()) return absl::OkStatus();
  if (!loop.on()) {
    return absl::InvalidArgumentError(
        "bounds the ended files of loop=, which is missing; add loop=1m");
  }
  if (loop.bytes != Loop::kNoBytes && keep.bytes / 2 < loop.bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("too small for files of loop=", FormatBytes(loop.bytes),
                     "; use twice that at least, or a smaller loop="));
  }
  return absl::OkStatus();
}

std::vector<std::string> DescribeLoop(const Loop& loop) {
  std::vector<std::string> values;
  if (loop.time < absl::InfiniteDuration()) values.push_back(absl::FormatDuration(loop.time));
  if (loop.bytes != Loop::kNoBytes) values.push_back(FormatBytes(loop.bytes));
  return values;
}

std::vector<std::string> DescribeKeep(const Keep& keep) {
  std::vector<std::string> values;
  if (keep.bytes != Keep::kAll) values.push_back(FormatBytes(keep.bytes));
  if (keep.files != Keep::kAll) values.push_back(absl::StrCat(keep.files));
  return values;
}

}  // namespace jtrace
