#include "postproc/support/percent.h"

#include <charconv>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"

namespace jtrace::postproc {
namespace {

// The byte of "%20…"; 0: none that may be shown.
char ByteOf(std::string_view code) {
  if (code.size() < 3) return 0;
  unsigned value = 0;
  const char* const end = code.data() + 3;
  if (std::from_chars(code.data() + 1, end, value, 16).ptr != end) return 0;
  return value < ' ' || value == 0x7f ? '\0' : static_cast<char>(value);
}

}  // namespace

std::string DecodePercents(std::string_view path) {
  std::string decoded;
  for (size_t i = 0; i < path.size(); ++i) {
    const char byte = path[i] == '%' ? ByteOf(path.substr(i)) : '\0';
    decoded += byte == '\0' ? path[i] : byte;
    if (byte != '\0') i += 2;
  }
  return decoded;
}

std::string EncodePercents(std::string_view value) {
  std::string text;
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = absl::ascii_isalnum(byte) || c == '.' || c == '_' || c == '-' || c == '~';
    text += is_plain ? std::string(1, c) : absl::StrFormat("%%%02X", byte);
  }
  return text;
}

}  // namespace jtrace::postproc
