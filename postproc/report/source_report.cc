// Annotated source: each line with how often it ran (S4.7).
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "postproc/lines/method_codes.h"
#include "postproc/report/code_rows.h"
#include "postproc/report/line_cells.h"
#include "postproc/report/line_value.h"
#include "postproc/report/listing_writer.h"
#include "postproc/report/report.h"
#include "postproc/report/source_listing.h"
#include "postproc/report/source_notes.h"
#include "postproc/report/units.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

constexpr std::string_view kNoFile = "[unknown file]";

std::string_view NameOf(const CountedFile& file) {
  return file.path.empty() ? kNoFile : std::string_view(file.path);
}

void WriteHead(const ReportInput& input, const SourceListing& listing, std::ostream& out) {
  const CountedFile& file = listing.file;
  const LineValue share_value = ShareValueOf(input);
  const Covered branches = CoveredBranches(file.lines);
  out << Printable(NameOf(file));
  if (listing.found.has_value() && *listing.found != file.path) {
    out << "  " << Printable(*listing.found);
  }
  out << '\n' << CoveredText(CoveredLines(file.lines), "lines");
  if (branches.total > 0) out << "; " << CoveredText(branches, "branches");
  out << "; " << Counted(ToInteger(file.instructions), "bytecode instruction")
      << (LineShares(file.methods, share_value).has_any()
              ? StrCat("; percent: of the method's ", ShareValueName(share_value))
              : "")
      << '\n';
  if (listing.is_too_short()) {
    out << "line " << file.lines.back().line << " was counted, and this source has "
        << Counted(static_cast<int64_t>(listing.source_lines), "line")
        << ": it is another version, or the number is one of inlined code (Kotlin)\n";
  }
}

size_t WithoutSource(const std::vector<SourceListing>& listings) {
  return static_cast<size_t>(
      std::count_if(listings.begin(), listings.end(),
                    [](const SourceListing& listing) { return !listing.found.has_value(); }));
}

Cell ShareCell(std::optional<double> percent) {
  return percent.has_value() ? Cell::Percent(*percent) : Cell::Empty();
}

std::vector<Cell> LineRow(const ListedLine& line, const CountedFile& file, LineValue value,
                          const LineShares& shares) {
  const LineCounts* code = line.code();
  std::string blocks;
  if (code != nullptr) {
    for (const uint64_t block : code->blocks) StrAppend(&blocks, blocks.empty() ? "" : " ", block);
  }
  return {code != nullptr ? CountCell(code->executions) : Cell::Empty(),
          Cell::Text(std::string(1, MarkOf(code))),
          Cell::Int(line.number),
          Cell::Text(line.text),
          Cell::Text(NameOf(file)),
          code != nullptr ? Cell::Int(code->branches) : Cell::Empty(),
          code != nullptr ? Cell::Int(code->branches_taken) : Cell::Empty(),
          Cell::Text(blocks),
          code != nullptr ? CountCell(ValueOf(value, *code)) : Cell::Empty(),
          Cell::Empty(),
          ShareCell(code != nullptr ? shares.Of(line.number) : std::nullopt)};
}

// What the numbers of a file's rows are.
struct RowValues {
  LineValue value;
  LineValue share_value;
  LineShares shares;
};

void AddCode(const MethodInstructions& rows, const Cell& line, const CountedFile& file,
             const RowValues& values, Table& table) {
  for (const InstructionCounts& it : rows.instructions) {
    table.rows.push_back(
        {CountCell(it.count), Cell::Text(it.count == 0 ? "#" : " "), line,
         Cell::Text(InstructionText(it)), Cell::Text(NameOf(file)), Cell::Int(it.branches),
         Cell::Int(it.branches_taken), Cell::Text(""), CountCell(ValueOf(values.value, it)),
         Cell::Int(it.bci),
         ShareCell(values.shares.Of(*rows.method, ValueOf(values.share_value, it)))});
  }
}

Table SourceTable(const ReportInput& input) {
  Table table;
  const LineValue value = LineValueOf(input.options);
  const LineValue share_value = ShareValueOf(input);
  table.columns = {
      {"count", Style::kCount},
      {"mark"},
      {"line"},
      {"source"},
      {"file"},
      {"branches"},
      {"branches_taken"},
      {"blocks"},
      {value == LineValue::kNone || value == LineValue::kTicks ? std::string("self_ticks")
                                                               : std::string(LineValueName(value)),
       Style::kCount},
      {"bci"},
      {"percent"}};
  MethodCodes codes(input.line_sources);
  for (const SourceListing& listing : SourceListings(input)) {
    std::optional<CodeRows> code;
    if (input.options.bytecode) code.emplace(listing, codes);
    const RowValues values = {value, share_value, LineShares(listing.file.methods, share_value)};
    const auto add_code = [&](const std::vector<MethodInstructions>& rows, const Cell& line) {
      for (const MethodInstructions& row : rows) AddCode(row, line, listing.file, values, table);
    };
    for (const ListedLine& line : listing.lines) {
      table.rows.push_back(LineRow(line, listing.file, value, values.shares));
      const auto* instructions = code.has_value() ? code->Of(line.number) : nullptr;
      if (instructions != nullptr) add_code(*instructions, Cell::Int(line.number));
    }
    if (code.has_value()) add_code(code->without_line(), Cell::Empty());
  }
  return table;
}

// The files with the most instructions first. Where --source or --of selects what is shown, files
// without a source show bytecode in its place.
void SourceText(const ReportInput& input, std::ostream& out) {
  std::vector<SourceListing> listings = SourceListings(input);
  if (const size_t without = WithoutSource(listings); without > 0) {
    out << without << " of " << Counted(static_cast<int64_t>(listings.size()), "file")
        << " without text: --source=FOLDER|JAR|ZIP says where the sources are\n\n";
  }
  std::stable_sort(listings.begin(), listings.end(),
                   [](const SourceListing& a, const SourceListing& b) {
                     return a.file.instructions > b.file.instructions;
                   });
  const size_t all = listings.size();
  const int64_t top = input.options.top;
  if (top > 0 && all > static_cast<uint64_t>(top)) listings.resize(static_cast<size_t>(top));
  const SourceNotes notes(input);
  MethodCodes codes(input.line_sources);
  // A whole program without any source would be endless.
  const bool in_place_of_source = input.sources.has_places() || !input.options.of.empty();
  const auto wants_code = [&](const SourceListing& listing) {
    return input.options.bytecode || (in_place_of_source && !listing.found.has_value());
  };
  for (const SourceListing& listing : listings) {
    if (&listing != &listings.front()) out << '\n';
    WriteHead(input, listing, out);
    std::optional<CodeRows> code;
    if (wants_code(listing)) code.emplace(listing, codes);
    ListingWriter(input, notes, listing, code.has_value() ? &*code : nullptr, out).Write();
  }
  if (listings.size() < all) {
    out << "\n… " << Counted(static_cast<int64_t>(all - listings.size()), "more file") << '\n';
  }
}

}  // namespace

extern const Report kSourceReport = {
    .name = "source",
    .group = ReportGroup::kLines,
    .summary = "source files with the count of each line (blocks=on)",
    .example = "jtrace-post --report=source --of=acme.Cache --source=src/main/java trace.bin",
    .needs = kNeedsLines,
    .accepts = kAcceptsTop | kAcceptsMetric | kAcceptsScope | kAcceptsBlocks | kAcceptsBytecode |
               kAcceptsSource | kAcceptsClasses,
    .table = SourceTable,
    .text = SourceText,
};

}  // namespace jtrace::postproc
