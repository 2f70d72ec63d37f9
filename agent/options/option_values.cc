#include "agent/options/option_values.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "agent/base/own_fd.h"
#include "agent/native_hooks/cpp_name.h"

namespace jtrace {
namespace {

using NameTest = absl::FunctionRef<bool(absl::string_view)>;

absl::string_view ItemName(absl::string_view item) {
  const size_t equals = item.find('=');
  if (equals == absl::string_view::npos) return "";
  return absl::StripAsciiWhitespace(item.substr(0, equals));
}

// The end of the value of hook= at the beginning of `text`.
size_t EndOfHook(absl::string_view text, NameTest is_option) {
  size_t first_comma = text.size();
  size_t begin = 0;  // of one of several names, separated by ';'
  while (begin <= text.size()) {
    const absl::string_view name = text.substr(begin, text.find(';', begin) - begin);
    const native_hooks::Nesting nesting = native_hooks::NestingOf(name);
    for (size_t i = 0; i < name.size(); ++i) {
      if (name[i] != ',') continue;
      first_comma = std::min(first_comma, begin + i);
      if (nesting.depths[i] == 0 || is_option(ItemName(name.substr(i + 1)))) {
        const bool is_whole = native_hooks::NestingOf(name.substr(0, i)).is_balanced;
        return is_whole ? begin + i : first_comma;
      }
    }
    if (!nesting.is_balanced && first_comma != text.size()) return first_comma;
    first_comma = text.size();
    begin += name.size() + 1;
  }
  return text.size();
}

}  // namespace

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
  // A pipe without a writer must not block the program's start.
  const OwnFd file(open(std::string(path).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.ok()) return fail(strerror(errno));
  struct stat status;
  if (fstat(file.get(), &status) != 0) return fail(strerror(errno));
  if (S_ISDIR(status.st_mode)) return fail("it is a folder");
  if (!S_ISREG(status.st_mode)) return fail("it is a device or a pipe; name a file");
  constexpr size_t kMostBytes = 1 << 20;
  std::string text(kMostBytes + 1, '\0');
  size_t size = 0;
  for (ssize_t count = 1; count != 0 && size < text.size();) {
    count = read(file.get(), text.data() + size, text.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(strerror(errno));
    size += static_cast<size_t>(count);
  }
  if (size > kMostBytes) return fail("it has more than 1 MB");
  text.resize(size);
  return text;
}

std::vector<absl::string_view> SplitOptions(absl::string_view text, NameTest is_option) {
  std::vector<absl::string_view> items;
  while (!text.empty()) {
    const size_t end = ItemName(text.substr(0, text.find(','))) == "hook"
                           ? EndOfHook(text, is_option)
                           : std::min(text.find(','), text.size());
    const absl::string_view item = text.substr(0, end);
    if (!absl::StripAsciiWhitespace(item).empty()) items.push_back(item);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return items;
}

}  // namespace jtrace
