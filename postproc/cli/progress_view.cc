#include "postproc/cli/progress_view.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "common/visible_text.h"
#include "postproc/report/shorten.h"

namespace jtrace::control {
namespace {

constexpr int kColumns = 100;
constexpr size_t kCells = 20;

// The numbers before the text, and the text. An agent may be another user's.
struct Parts {
  uint64_t done = 0;
  uint64_t all = 0;
  std::string_view text;
};

std::optional<Parts> Split(std::string_view progress) {
  const size_t slash = progress.find('/');
  const size_t blank = progress.find(' ');
  if (slash == std::string_view::npos || blank == std::string_view::npos || blank < slash) {
    return std::nullopt;
  }
  Parts parts = {.text = progress.substr(blank + 1)};
  const std::string done(progress.substr(0, slash));
  const std::string all(progress.substr(slash + 1, blank - slash - 1));
  if (!absl::SimpleAtoi(done, &parts.done) || !absl::SimpleAtoi(all, &parts.all)) {
    return std::nullopt;
  }
  return parts;
}

}  // namespace

std::string WithBar(std::string_view progress) {
  const std::optional<Parts> parts = Split(progress);
  if (!parts.has_value()) return std::string(progress);
  const double share =
      parts->all == 0
          ? 1.0
          : std::min(1.0, static_cast<double>(parts->done) / static_cast<double>(parts->all));
  std::string bar(kCells, '.');
  std::fill_n(bar.begin(), static_cast<size_t>(share * kCells), '#');
  return absl::StrFormat("[%s] %3.0f %%  ", bar, share * 100) + std::string(parts->text);
}

void ProgressView::Show(std::string_view progress) {
  if (is_terminal_) {
    is_shown_ = true;
    out_ << "\r\x1b[K" << postproc::Shorten(VisibleText(WithBar(progress)), kColumns) << std::flush;
    return;
  }
  const auto now = now_();
  if (now - last_line_ < kBetweenLines) return;
  last_line_ = now;
  const std::optional<Parts> parts = Split(progress);
  out_ << "jtrace: "
       << postproc::Shorten(VisibleText(parts.has_value() ? parts->text : progress), kColumns)
       << std::endl;
}

void ProgressView::End() {
  if (std::exchange(is_shown_, false)) out_ << "\r\x1b[K" << std::flush;
}

}  // namespace jtrace::control
