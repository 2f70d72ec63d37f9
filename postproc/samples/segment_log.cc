#include "postproc/samples/segment_log.h"

#include <algorithm>

#include "postproc/support/strings.h"
#include "postproc/support/wrap.h"

namespace jtrace::postproc {
namespace {

// The number in "key=N" among the arguments after the name; none: there is none.
std::optional<int64_t> NumberIn(absl::Span<const std::string> args, std::string_view key) {
  for (size_t i = 1; i < args.size(); ++i) {
    std::string_view value = args[i];
    int64_t number = 0;
    if (ConsumePrefix(value, key) && ConsumePrefix(value, "=") && ParseInteger(value, number)) {
      return number;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<SegmentPairs::Ended> SegmentPairs::Take(At at, std::string_view op,
                                                      absl::Span<const std::string> args) {
  if (args.empty() || (op != "segment-begin" && op != "segment-end")) return std::nullopt;
  const std::pair<ThreadId, std::string> key(at.thread, args[0]);
  if (op == "segment-begin") {
    begun_[key].push_back(at.time);
    return std::nullopt;
  }
  const auto begun = begun_.find(key);
  std::optional<int64_t> time = NumberIn(args, "value");
  if (begun != begun_.end()) {
    // A time of 0 has no value.
    if (!time.has_value()) time = WrapSub(at.time, begun->second.back());
    begun->second.pop_back();
    if (begun->second.empty()) begun_.erase(begun);
  }
  if (!time.has_value()) return std::nullopt;
  return Ended{args[0], WrapSub(at.time, *time), *time};
}

absl::btree_map<std::string, int64_t> SegmentPairs::Open() const {
  absl::btree_map<std::string, int64_t> open;
  for (const auto& [key, times] : begun_) open[key.second] += static_cast<int64_t>(times.size());
  return open;
}

void SegmentLog::Total::Add(int64_t more, int64_t sum, int64_t least, int64_t most) {
  if (more == 0) return;
  min = count == 0 ? least : std::min(min, least);
  max = count == 0 ? most : std::max(max, most);
  count = WrapAdd(count, more);
  time = WrapAdd(time, sum);
}

void SegmentLog::OnNotice(At at, std::string_view op, absl::Span<const std::string> args) {
  if (op != kSegmentsOp) {
    const auto ended = pairs_.Take(at, op, args);
    if (ended.has_value()) totals_[ended->name].Add(1, ended->time, ended->time, ended->time);
    return;
  }
  if (args.empty()) return;
  Total& total = totals_[args[0]];
  const auto number = [&](std::string_view key) { return NumberIn(args, key).value_or(0); };
  total.Add(number("count"), number("total"), number("min"), number("max"));
  total.open = WrapAdd(total.open, number("open"));
}

absl::btree_map<std::string, SegmentLog::Total> SegmentLog::Totals() const {
  auto totals = totals_;
  for (const auto& [name, open] : pairs_.Open()) {
    totals[name].open = WrapAdd(totals[name].open, open);
  }
  return totals;
}

}  // namespace jtrace::postproc
