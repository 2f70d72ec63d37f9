// A source file with its counts, line by line: what the source report shows (S4.7).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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

}  // namespace jtrace::postproc
