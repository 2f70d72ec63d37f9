#include "postproc/support/printable_stream.h"

#include <algorithm>

#include "common/visible_text.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

// Most text consists of these.
bool IsPlain(char c) { return (c >= ' ' && c <= '~') || c == '\n'; }

// Bytes at the end of `text` that begin a character and do not complete it.
size_t CutBytes(std::string_view text) {
  constexpr size_t kMost = 3;
  for (size_t bytes = std::min(kMost, text.size()); bytes > 0; --bytes) {
    if (IsCutCharacter(text.substr(text.size() - bytes))) return bytes;
  }
  return 0;
}

}  // namespace

void PrintableBuffer::Put(std::string_view text) {
  if (cut_.empty() && std::all_of(text.begin(), text.end(), IsPlain)) {
    target().write(text.data(), static_cast<std::streamsize>(text.size()));
    return;
  }
  const std::string joined = StrCat(cut_, text);
  const size_t cut = CutBytes(joined);
  cut_ = joined.substr(joined.size() - cut);
  target() << VisibleLines(std::string_view(joined).substr(0, joined.size() - cut));
}

void PrintableBuffer::PutRemainder() {
  target() << VisibleLines(cut_);
  cut_.clear();
}

}  // namespace jtrace::postproc
