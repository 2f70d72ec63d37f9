#include "postproc/report/source_listing.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "postproc/lines/merged_lines.h"
#include "postproc/lines/path_costs.h"
#include "postproc/report/line_cells.h"
#include "postproc/source/source_finder.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

struct Range {
  int32_t first = 1;
  int32_t last = std::numeric_limits<int32_t>::max();

  bool Has(int32_t line) const { return first <= line && line <= last; }
};

// From the first line of the methods to their last one.
Range RangeOf(const Methods& methods) {
  Range range{std::numeric_limits<int32_t>::max(), 0};
  for (const MethodLines* method : methods) {
    for (const LineCounts& line : method->lines) {
      range.first = std::min(range.first, line.line);
      range.last = std::max(range.last, line.line);
    }
  }
  return range;
}

// Every line of the source; then lines with code that it does not have.
std::vector<ListedLine> ListLines(const CountedFile& file, const std::vector<std::string>& source,
                                  const Range& range) {
  std::vector<ListedLine> listed;
  size_t next = 0;
  const auto add_counted = [&](int32_t before) {
    for (; next < file.lines.size() && file.lines[next].line < before; ++next) {
      const LineCounts& counts = file.lines[next];
      if (range.Has(counts.line)) listed.push_back({counts.line, counts, ""});
    }
  };
  for (size_t i = 0; i < source.size(); ++i) {
    const auto number = static_cast<int32_t>(i + 1);
    add_counted(number);
    const bool has_code = next < file.lines.size() && file.lines[next].line == number;
    if (range.Has(number)) {
      listed.push_back({number, std::nullopt, source[i]});
      if (has_code) listed.back().counts = file.lines[next];
    }
    if (has_code) ++next;
  }
  add_counted(std::numeric_limits<int32_t>::max());
  return listed;
}

SourceListing ListingOf(const ReportInput& input, CountedFile file, Methods selected) {
  SourceListing listing;
  listing.is_part = selected.size() < file.methods.size();
  std::optional<FoundSource> source = input.sources.Find(file.path);
  static const std::vector<std::string> kNone;
  const std::vector<std::string>& text = source.has_value() ? source->lines : kNone;
  listing.lines = ListLines(file, text, listing.is_part ? RangeOf(selected) : Range());
  listing.source_lines = static_cast<int32_t>(text.size());
  if (source.has_value()) listing.found = std::move(source->where);
  listing.file = std::move(file);
  listing.selected = std::move(selected);
  return listing;
}

}  // namespace

char MarkOf(const LineCounts* counts) {
  if (counts == nullptr) return ' ';
  const bool ran =
      counts->executions > 0 || std::any_of(counts->blocks.begin(), counts->blocks.end(),
                                            [](uint64_t block) { return block > 0; });
  if (!ran) return '#';
  return counts->blocks.size() > 1 ? '+' : '|';
}

bool SourceListing::is_too_short() const {
  return found.has_value() && !file.lines.empty() && file.lines.back().line > source_lines;
}

std::vector<SourceListing> SourceListings(const ReportInput& input) {
  std::vector<SourceListing> listings;
  std::vector<CountedFile> selected = CountedFiles(SelectedMethods(input));
  auto next = selected.begin();
  for (CountedFile& file : CountedFiles(SelectMethods(input.lines, ""))) {
    if (next == selected.end()) break;
    if (next->path != file.path) continue;
    listings.push_back(ListingOf(input, std::move(file), std::move(next->methods)));
    ++next;
  }
  return listings;
}

namespace {

// Instructions without a line number are in the method's own sums only.
uint64_t WholeOf(const MethodLines& method, LineValue value) {
  uint64_t lines = 0;
  for (const LineCounts& line : method.lines) lines = AddCounts(lines, ValueOf(value, line));
  if (value == LineValue::kBytecodes) return std::max(lines, method.instructions);
  return value == LineValue::kCycles ? std::max(lines, method.cycles) : lines;
}

}  // namespace

LineValue ShareValueOf(const ReportInput& input) {
  const LineValue value = LineValueOf(input.options);
  if (value != LineValue::kTicks) return value == LineValue::kNone ? LineValue::kCycles : value;
  const auto& methods = input.lines.methods;
  const bool has_ticks = std::any_of(methods.begin(), methods.end(), [](const MethodLines& it) {
    return WholeOf(it, LineValue::kTicks) > 0;
  });
  return has_ticks ? LineValue::kTicks : LineValue::kCycles;
}

std::string_view ShareValueName(LineValue value) {
  return value == LineValue::kTicks ? "self time" : LineValueName(value);
}

LineShares::LineShares(const Methods& methods, LineValue value) {
  for (const MethodLines* method : methods) {
    const uint64_t whole = whole_[method] = WholeOf(*method, value);
    if (whole == 0) continue;
    for (const LineCounts& line : method->lines) {
      const uint64_t part = ValueOf(value, line);
      const double percent = 100 * static_cast<double>(part) / static_cast<double>(whole);
      has_any_ |= part > 0;
      const auto [known, is_new] = by_line_.try_emplace(line.line, Share{part, percent});
      if (!is_new && part > known->second.part) known->second = {part, percent};
    }
  }
}

std::optional<double> LineShares::Of(int32_t line) const {
  const auto found = by_line_.find(line);
  if (found == by_line_.end()) return std::nullopt;
  return found->second.percent;
}

std::optional<double> LineShares::Of(const MethodLines& method, uint64_t part) const {
  const auto found = whole_.find(&method);
  if (found == whole_.end() || found->second == 0) return std::nullopt;
  return 100 * static_cast<double>(part) / static_cast<double>(found->second);
}

namespace {

uint64_t AsCount(int64_t ticks) { return static_cast<uint64_t>(std::max<int64_t>(0, ticks)); }

}  // namespace

LineValue LineValueOf(const ReportOptions& options) {
  if (options.metric.empty() || options.metric == "ticks") return LineValue::kTicks;
  if (options.metric == kBytecodes) return LineValue::kBytecodes;
  return options.metric == kCycles ? LineValue::kCycles : LineValue::kNone;
}

std::string_view LineValueName(LineValue value) {
  constexpr std::string_view kNames[] = {"", "self", kBytecodes, kCycles};
  return kNames[static_cast<size_t>(value)];
}

uint64_t ValueOf(LineValue value, const LineCounts& line) {
  switch (value) {
    case LineValue::kTicks:
      return AsCount(line.ticks);
    case LineValue::kBytecodes:
      return line.instructions;
    case LineValue::kCycles:
      return line.cycles;
    case LineValue::kNone:
      break;
  }
  return 0;
}

uint64_t ValueOf(LineValue value, const InstructionCounts& instruction) {
  switch (value) {
    case LineValue::kTicks:
      return AsCount(instruction.ticks);
    case LineValue::kBytecodes:
      return instruction.count;
    case LineValue::kCycles:
      return instruction.cycles;
    case LineValue::kNone:
      break;
  }
  return 0;
}

std::string FormatLineValue(LineValue value, uint64_t number, const Units& units) {
  if (number == 0) return "";
  const int64_t integer = ToInteger(number);
  return value == LineValue::kTicks ? FormatInteger(integer, Style::kTicks, units)
                                    : FormatCount(integer);
}

}  // namespace jtrace::postproc
