#include "postproc/support/printable_stream.h"

namespace jtrace::postproc {
namespace {

constexpr unsigned char kLeadOfC1 = 0xC2;

bool IsControl(unsigned char byte) { return (byte < 0x20 && byte != '\n') || byte == 0x7F; }
bool EndsC1(unsigned char byte) { return byte >= 0x80 && byte < 0xA0; }

}  // namespace

void PrintableBuffer::Put(std::string_view text) {
  size_t passed = 0;  // up to here
  const auto pass_until = [&](size_t end) {
    target().write(text.data() + passed, static_cast<std::streamsize>(end - passed));
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool ends_c1 = after_lead_ && EndsC1(byte);
    if (after_lead_) target().put(ends_c1 ? '?' : static_cast<char>(kLeadOfC1));
    after_lead_ = byte == kLeadOfC1;
    if (!ends_c1 && !after_lead_ && !IsControl(byte)) continue;
    pass_until(i);
    passed = i + 1;
    if (!after_lead_) target().put('?');
  }
  pass_until(text.size());
}

}  // namespace jtrace::postproc
