#include "postproc/report/tree_numbers.h"

#include <algorithm>

#include "absl/hash/hash.h"
#include "absl/strings/str_format.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

// Narrower lines have only the measure and the calls, in columns as narrow as they can be.
constexpr int kWidthForWaiting = 100;
constexpr int kWidthForTime = 110;
constexpr size_t kKeptLines = 1024;

int64_t MostCalls(const CallTree& tree) {
  int64_t most = 0;
  for (uint32_t i = 1; i <= tree.size(); ++i) {
    const CallNode& node = tree.node(NodeId(i));
    if (node.origin == NodeOrigin::kEvent) most = std::max(most, node.calls);
  }
  return most;
}

}  // namespace

TreeNumbers::TreeNumbers(const ReportInput& input)
    : input_(input), has_amounts_(input.measure().is_more_than_calls()), kept_(kKeptLines) {
  const Measure& measure = input.measure();
  int64_t clocked = 0;
  for (const NodeId root : input.tree.roots()) {
    const NodeTotals& totals = input.totals()[root.value - 1];
    clocked = WrapAdd(clocked, totals.elapsed());
    has_waiting_ = has_waiting_ || (!measure.is_chosen && totals.off != 0);
  }
  has_time_ = !measure.is_chosen && measure.kind == Measure::Kind::kTicks && clocked != 0;
  const int width = input.options.width;
  const auto has_room = [width](int least) { return width == 0 || width >= least; };
  shows_time_ = has_time_ && has_room(kWidthForTime);
  shows_waiting_ = has_waiting_ && (!has_time_ || has_room(kWidthForWaiting));
  const bool are_counts = StyleOf(measure) == Style::kCount;
  if (!has_room(kWidthForWaiting)) {
    share_width_ = 7;
    time_width_ = 9;
    const int digits = DisplayWidth(FormatCount(MostCalls(input.tree)));
    calls_width_ = std::max(digits, DisplayWidth("calls")) + 2;
  }
  amount_width_ = are_counts ? calls_width_ : time_width_;
  if (are_counts && !has_room(kWidthForWaiting)) {
    const int digits = DisplayWidth(FormatCount(measure.whole));
    amount_width_ = std::max(digits, DisplayWidth("total")) + 2;
  }
  width_ = share_width_ + (has_amounts_ ? 2 * amount_width_ : 0) +
           (shows_time_ + shows_waiting_) * time_width_ + calls_width_ + 2;
}

std::string TreeNumbers::Join(std::string_view share, std::string_view total, std::string_view self,
                              std::string_view time, std::string_view waiting,
                              std::string_view calls) const {
  std::string line = PadLeft(share, share_width_);
  const auto add = [&line](bool is_shown, std::string_view text, int width) {
    if (is_shown) AppendLeft(line, text, width);
  };
  add(has_amounts_, total, amount_width_);
  add(has_amounts_, self, amount_width_);
  add(shows_time_, time, time_width_);
  add(shows_waiting_, waiting, time_width_);
  add(true, calls, calls_width_);
  return line += "  ";
}

const std::string& TreeNumbers::Line(const Values& values) {
  const size_t hash = absl::HashOf(values.share, values.total, values.self, values.time,
                                   values.waiting, values.calls);
  KeptLine& kept = kept_[hash % kept_.size()];
  if (kept.line.empty() || kept.values != values) kept = {values, NewLine(values)};
  return kept.line;
}

std::string TreeNumbers::NewLine(const Values& values) const {
  const auto amount = [this](int64_t value) { return FormatMeasure(input_, value); };
  const auto time = [this](int64_t value) { return value == 0 ? "" : input_.units().Time(value); };
  const std::string share =
      absl::StrFormat("%.1f %%", PercentOf(values.total, input_.measure().whole));
  return Join(values.share ? share : "", values.share ? amount(values.total) : "",
              values.self == 0 ? "" : amount(values.self), time(values.time), time(values.waiting),
              values.calls == 0 ? "" : FormatCount(values.calls));
}

std::string TreeNumbers::Header() const {
  const bool in_ticks =
      input_.measure().kind == Measure::Kind::kTicks && input_.units().interval_ns == 0;
  return StrCat(Join("share", in_ticks ? "ticks" : "total", "self", "time", "waiting", "calls"),
                "call tree", ByMeasure(input_));
}

std::string TreeNumbers::LeftOut() const {
  const bool no_time = has_time_ && !shows_time_;
  const bool no_waiting = has_waiting_ && !shows_waiting_;
  return StrCat(no_time ? "time" : "", no_time && no_waiting ? ", " : "",
                no_waiting ? "waiting" : "");
}

}  // namespace jtrace::postproc
