// A source file with its counts, line by line: what the source report shows (S4.7).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "postproc/lines/line_builder.h"
#include "postproc/lines/line_profile.h"
#include "postproc/lines/merged_lines.h"
#include "postproc/report/report.h"

namespace jtrace::postproc {

// In front of a line: '|' a block of it ran, '+' it has several blocks and some ran, '#' it never
// ran, ' ' it has no code.
char MarkOf(const LineCounts* counts);

struct ListedLine {
  int32_t number = 0;
  std::optional<LineCounts> counts;  // none: no code
  std::string text;                  // as in the file; "" without a source

  const LineCounts* code() const { return counts.has_value() ? &*counts : nullptr; }
};

struct SourceListing {
  CountedFile file;      // all of its methods, also those that --of does not name
  Methods selected;      // of these
  bool is_part = false;  // from the first line of the selected methods to their last one
  std::optional<std::string> found;  // where the source was found
  // The last line of the source; 0: there is none.
  int32_t source_lines = 0;
  // Without a source only those with code.
  std::vector<ListedLine> lines;

  // Lines were counted that the source does not have: it is another version, or a compiler numbers
  // inlined code so.
  bool is_too_short() const;
};

// The files that have selected methods, by path.
std::vector<SourceListing> SourceListings(const ReportInput& input);

// The number that a listing shows beside the counts: self time, or what --metric says.
enum class LineValue : uint8_t { kNone, kTicks, kBytecodes, kCycles };

// kTicks unless --metric names another one: kNone where lines do not have it.
LineValue LineValueOf(const ReportOptions& options);
// The head of its column.
std::string_view LineValueName(LineValue value);

uint64_t ValueOf(LineValue value, const LineCounts& line);
uint64_t ValueOf(LineValue value, const InstructionCounts& instruction);
// "" of 0.
std::string FormatLineValue(LineValue value, uint64_t number, const Units& units);

// What the shares of a report are of: the value beside the counts, or cycles where there is none.
LineValue ShareValueOf(const ReportInput& input);
// "self time", "cycles"
std::string_view ShareValueName(LineValue value);

class LineShares {
 public:
  // Of the methods of one file, which outlive it.
  LineShares(const Methods& methods, LineValue value);

  // Whether any line has a share above 0.
  bool has_any() const { return has_any_; }

  // In percent; none: the line has no code, or its method no cost. Of a line that several methods
  // have, such as a lambda's, that of the method that has the most of its cost.
  std::optional<double> Of(int32_t line) const;
  // Of a part of the method's cost.
  std::optional<double> Of(const MethodLines& method, uint64_t part) const;

 private:
  struct Share {
    uint64_t part = 0;
    double percent = 0;
  };
  absl::flat_hash_map<const MethodLines*, uint64_t> whole_;
  absl::flat_hash_map<int32_t, Share> by_line_;
  bool has_any_ = false;
};

}  // namespace jtrace::postproc
