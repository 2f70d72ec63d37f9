// A source listing as text: counts, marks, source, comments on methods.
#pragma once

#include <ostream>
#include <string>
#include <string_view>

#include "absl/container/btree_map.h"
#include "postproc/report/code_rows.h"
#include "postproc/report/line_shares.h"
#include "postproc/report/line_value.h"
#include "postproc/report/source_listing.h"
#include "postproc/report/source_notes.h"

namespace jtrace::postproc {

// Writes the lines of one listing, in columns of its own.
class ListingWriter {
 public:
  // All outlive it. `code`: the instructions to show, or null.
  ListingWriter(const ReportInput& input, const SourceNotes& notes, const SourceListing& listing,
                const CodeRows* code, std::ostream& out);

  void Write();

 private:
  // A row's columns before its text; empty where it has none.
  struct Margin {
    std::string count;
    std::string value;
    std::string share;
    char mark = ' ';
    std::string number;
  };

  int MarginWidth() const;
  int TextWidth() const;
  std::string ValueOf(const LineCounts& line) const;
  std::string ShareOf(const MethodLines& method, const InstructionCounts& instruction) const;
  void WriteRow(const Margin& margin, std::string text, std::string_view branches);
  void WriteNote(std::string_view note);
  void WriteLine(const ListedLine& line);
  void WriteCode(const MethodInstructions& code);

  const ReportInput& input_;
  const SourceNotes& notes_;
  const SourceListing& listing_;
  const CodeRows* code_;
  std::ostream& out_;
  const LineValue value_;
  const LineValue share_value_;
  const LineShares shares_;
  int count_width_ = 5;
  int value_width_ = 0;  // 0: no such column
  int share_width_ = 0;  // the same
  int number_width_ = 4;
  int branch_column_ = 0;                      // of the text
  absl::btree_map<int32_t, Methods> methods_;  // by their first line
};

}  // namespace jtrace::postproc
