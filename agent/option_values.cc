#include "agent/option_values.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace jtrace {

absl::Status ParseBytes(absl::string_view value, uint64_t& bytes) {
  absl::string_view number = value;
  if (!absl::ConsumeSuffix(&number, "B")) absl::ConsumeSuffix(&number, "b");
  int shift = 0;
  if (absl::ConsumeSuffix(&number, "k") || absl::ConsumeSuffix(&number, "K")) shift = 10;
  if (absl::ConsumeSuffix(&number, "m") || absl::ConsumeSuffix(&number, "M")) shift = 20;
  if (absl::ConsumeSuffix(&number, "g") || absl::ConsumeSuffix(&number, "G")) shift = 30;
  uint64_t count = 0;
  if (!absl::SimpleAtoi(number, &count) || count == 0 || count > (uint64_t{1} << 40) >> shift) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", value, "' is not a size such as 500m or 2g"));
  }
  bytes = count << shift;
  return absl::OkStatus();
}

std::string FormatBytes(uint64_t bytes) {
  int shift = 0;
  for (; shift < 30 && bytes >> shift != 0 && (bytes >> shift) % 1024 == 0;) shift += 10;
  constexpr absl::string_view kUnits[] = {"", "kB", "MB", "GB"};
  return absl::StrCat(bytes >> shift, kUnits[shift / 10]);
}

bool ParseSeconds(absl::string_view value, absl::Duration& time) {
  int64_t seconds = 0;
  absl::Duration parsed;
  if (absl::SimpleAtoi(value, &seconds)) {
    parsed = absl::Seconds(seconds);
  } else if (!absl::ParseDuration(value, &parsed)) {
    return false;
  }
  if (parsed <= absl::ZeroDuration()) return false;
  time = parsed;
  return true;
}

absl::StatusOr<std::string> ReadTextFile(absl::string_view path) {
  const auto fail = [&](absl::string_view why) {
    return absl::InvalidArgumentError(absl::StrCat("cannot read '", path, "': ", why));
  };
  std::ifstream file{std::string(path)};
  if (!file) return fail(strerror(errno));
  std::error_code error;
  if (std::filesystem::is_directory(std::string(path), error)) return fail("it is a folder");
  std::ostringstream text;
  text << file.rdbuf();
  if (file.bad()) return fail(strerror(errno));
  return text.str();
}

}  // namespace jtrace
