#include "postproc/export/jfr/bytes.h"

#include "common/utf8.h"

namespace jtrace::postproc::jfr {
namespace {

enum TextKind : char { kNull = 0, kEmpty = 1, kUtf8 = 3 };

size_t BytesOf(uint64_t value) {
  size_t bytes = 1;
  while (bytes < 9 && (value >>= 7) != 0) ++bytes;
  return bytes;
}

}  // namespace

void AppendNumber(std::string& out, uint64_t value) {
  for (int i = 0; i < 8; ++i) {
    if (value < 0x80) return out.push_back(static_cast<char>(value));
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

void AppendText(std::string& out, std::string_view text) {
  if (text.empty()) return out.push_back(kEmpty);
  const std::string valid = ValidUtf8(text);
  out.push_back(kUtf8);
  AppendNumber(out, valid.size());
  out += valid;
}

void AppendNoText(std::string& out) { out.push_back(kNull); }

void AppendEvent(std::string& out, std::string_view fields) {
  // A longer size may need a byte more for itself.
  uint64_t size = fields.size() + BytesOf(fields.size());
  size = fields.size() + BytesOf(size);
  AppendNumber(out, size);
  out += fields;
}

}  // namespace jtrace::postproc::jfr
