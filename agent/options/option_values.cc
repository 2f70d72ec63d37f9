#include "agent/options/option_values.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "agent/base/agent_file.h"

namespace jtrace {

absl::Status ParseBytes(absl::string_view value, uint64_t& bytes) {
  absl::string_view number = value;
  if (!absl::ConsumeSuffix(&number, "B")) absl::ConsumeSuffix(&number, "b");
  int shift = 0;
  constexpr absl::string_view kUnits = "kmg";
  const size_t unit =
      number.empty() ? absl::string_view::npos : kUnits.find(absl::ascii_tolower(number.back()));
  if (unit != absl::string_view::npos) {
    shift = 10 * (static_cast<int>(unit) + 1);
    number.remove_suffix(1);
  }
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
  constexpr absl::string_view kUnits[] = {"B", "kB", "MB", "GB"};
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

std::string FormatNumber(double number) {
  const std::string text = absl::StrCat(number);
  double again = 0;
  const bool is_exact = absl::SimpleAtod(text, &again) && again == number;
  return is_exact ? text : absl::StrFormat("%.17g", number);
}

absl::Status AppendItems(absl::string_view value, absl::string_view if_none,
                         std::vector<std::string>& items) {
  const size_t before = items.size();
  for (absl::string_view item : absl::StrSplit(value, ';', absl::SkipWhitespace())) {
    items.emplace_back(absl::StripAsciiWhitespace(item));
  }
  return items.size() == before ? absl::InvalidArgumentError(if_none) : absl::OkStatus();
}

absl::StatusOr<std::string> ReadTextFile(absl::string_view path) {
  const auto fail = [&](absl::string_view why) {
    return absl::InvalidArgumentError(absl::StrCat("cannot read '", path, "': ", why));
  };
  // A pipe without a writer must not block the program's start.
  const AgentFd file(open(std::string(path).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.ok()) return fail(strerror(errno));
  struct stat status;
  if (fstat(file.get(), &status) != 0) return fail(strerror(errno));
  if (S_ISDIR(status.st_mode)) return fail("it is a folder");
  if (!S_ISREG(status.st_mode)) return fail("it is a device or a pipe; name a file");
  constexpr size_t kMaxBytes = 1 << 20;
  std::string text(kMaxBytes + 1, '\0');
  size_t size = 0;
  for (ssize_t count = 1; count != 0 && size < text.size();) {
    count = read(file.get(), text.data() + size, text.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(strerror(errno));
    size += static_cast<size_t>(count);
  }
  if (size > kMaxBytes) return fail("it has more than 1 MB");
  text.resize(size);
  return text;
}

}  // namespace jtrace
