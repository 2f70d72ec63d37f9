#include "postproc/report/source_listing.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "postproc/report/line_cells.h"
#include "postproc/source/source_finder.h"

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

}  // namespace jtrace::postproc
