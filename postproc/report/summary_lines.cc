#include "postproc/report/summary_lines.h"

#include <algorithm>

#include "postproc/report/shorten.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {

void SummaryLines::Add(std::string_view key, std::string_view raw_value) {
  const std::string value = Printable(raw_value);
  const std::string padded =
      StrCat(key, std::string(static_cast<size_t>(kKeyWidth - DisplayWidth(key)), ' '));
  out_ << padded << (width_ > 0 ? Shorten(value, std::max(width_ - kKeyWidth, 20)) : value) << '\n';
}

void SummaryLines::Add(std::string_view key, const std::vector<std::string>& pieces) {
  const int room = width_ > 0 ? std::max(width_ - kKeyWidth, 40) : 0;
  std::string line;
  for (const std::string& piece : pieces) {
    const std::string longer = line.empty() ? piece : StrCat(line, " · ", piece);
    if (!line.empty() && room > 0 && DisplayWidth(longer) > room) {
      Add(key, line);
      key = "";
      line = piece;
    } else {
      line = longer;
    }
  }
  if (!line.empty()) Add(key, line);
}

}  // namespace jtrace::postproc
