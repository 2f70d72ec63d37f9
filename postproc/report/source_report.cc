// Annotated source: each line with how often it ran (S4.7).
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "postproc/report/line_cells.h"
#include "postproc/report/report.h"
#include "postproc/report/source_listing.h"
#include "postproc/report/source_notes.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

constexpr int kTabStop = 4;
constexpr std::string_view kNoFile = "[unknown file]";

std::string_view NameOf(const CountedFile& file) {
  return file.path.empty() ? kNoFile : std::string_view(file.path);
}

// Tabs as blanks; all else that a terminal would obey in a visible form.
std::string SourceText(std::string_view line) {
  std::string blanks;
  for (const char c : line) {
    if (c != '\t') {
      blanks.push_back(c);
      continue;
    }
    const int column = DisplayWidth(blanks);
    blanks.append(static_cast<size_t>(kTabStop - column % kTabStop), ' ');
  }
  return Printable(blanks);
}

// The beginning of a line, at most `width` columns.
std::string CutEnd(std::string text, int width) {
  if (DisplayWidth(text) <= width) return text;
  while (!text.empty() && DisplayWidth(text) >= width) {
    while (text.size() > 1 && (static_cast<unsigned char>(text.back()) & 0xc0) == 0x80) {
      text.pop_back();
    }
    text.pop_back();
  }
  return text += "…";
}

// Writes the lines of one listing, in columns of its own.
class ListingWriter {
 public:
  ListingWriter(const ReportInput& input, const SourceNotes& notes, const SourceListing& listing,
                std::ostream& out)
      : input_(input), notes_(notes), listing_(listing), out_(out) {
    for (const ListedLine& line : listing.lines) {
      number_width_ = std::max(number_width_, DisplayWidth(StrCat(line.number)));
      if (!line.counts.has_value()) continue;
      count_width_ = std::max(count_width_, DisplayWidth(CountText(line)));
      if (line.counts->branches == 0) continue;
      branch_column_ = std::max(branch_column_, DisplayWidth(SourceText(line.text)));
    }
    branch_column_ = std::min(branch_column_, SourceWidth() - kBranchWidth);
    for (const MethodLines* method : listing.selected) {
      if (!method->lines.empty()) methods_[method->lines.front().line].push_back(method);
    }
  }

  void Write() {
    out_ << PadLeft("count", count_width_) << "   " << PadLeft("line", number_width_)
         << "  source\n";
    for (const ListedLine& line : listing_.lines) {
      if (const auto found = methods_.find(line.number); found != methods_.end()) {
        for (const MethodLines* method : found->second) WriteNote(notes_.OfMethod(*method));
      }
      WriteLine(line);
      if (input_.options.blocks && line.counts.has_value() && line.counts->blocks.size() > 1) {
        WriteNote(SourceNotes::OfBlocks(*line.counts));
      }
    }
  }

 private:
  static constexpr int kLeastSource = 20;
  static constexpr int kBranchWidth = 8;

  static std::string CountText(const ListedLine& line) {
    return FormatCount(ToInteger(line.counts->executions));
  }

  // The columns before the source.
  int Margin() const { return count_width_ + 3 + number_width_ + 2; }

  int SourceWidth() const {
    constexpr int kUnlimited = 1 << 20;
    const int width = input_.options.width;
    return width <= 0 ? kUnlimited : std::max(width - Margin(), kLeastSource);
  }

  void WriteNote(std::string_view note) {
    out_ << std::string(static_cast<size_t>(count_width_), ' ') << " * "
         << std::string(static_cast<size_t>(number_width_), ' ') << "  "
         << CutEnd(Printable(note), SourceWidth()) << '\n';
  }

  void WriteLine(const ListedLine& line) {
    std::string text = SourceText(line.text);
    const std::string branches = line.counts.has_value() ? BranchesText(*line.counts) : "";
    if (branches.empty()) {
      text = CutEnd(std::move(text), SourceWidth());
    } else {
      text = CutEnd(std::move(text), SourceWidth() - kBranchWidth);
      const int padding = std::max(0, branch_column_ - DisplayWidth(text));
      text.append(static_cast<size_t>(padding), ' ');
      StrAppend(&text, "  ", branches);
    }
    const std::string count = line.counts.has_value() ? CountText(line) : "";
    std::string shown =
        StrCat(PadLeft(count, count_width_), " ", std::string(1, MarkOf(line.code())), " ",
               PadLeft(StrCat(line.number), number_width_), "  ", text);
    shown.erase(shown.find_last_not_of(' ') + 1);
    out_ << shown << '\n';
  }

  const ReportInput& input_;
  const SourceNotes& notes_;
  const SourceListing& listing_;
  std::ostream& out_;
  int count_width_ = 5;
  int number_width_ = 4;
  int branch_column_ = 0;                      // of the source
  absl::btree_map<int32_t, Methods> methods_;  // by their first line
};

void WriteHead(const SourceListing& listing, std::ostream& out) {
  const CountedFile& file = listing.file;
  const Covered branches = CoveredBranches(file.lines);
  out << Printable(NameOf(file));
  if (listing.found.has_value() && *listing.found != file.path) {
    out << "  " << Printable(*listing.found);
  }
  out << '\n' << CoveredText(CoveredLines(file.lines), "lines");
  if (branches.total > 0) out << "; " << CoveredText(branches, "branches");
  out << "; " << FormatCount(ToInteger(file.instructions)) << " bytecode instructions\n";
  if (listing.is_too_short()) {
    out << "line " << file.lines.back().line << " was counted, and this source has "
        << listing.source_lines
        << " lines: it is another version, or the number is one of inlined code (Kotlin)\n";
  }
}

size_t WithoutSource(const std::vector<SourceListing>& listings) {
  return static_cast<size_t>(
      std::count_if(listings.begin(), listings.end(),
                    [](const SourceListing& listing) { return !listing.found.has_value(); }));
}

}  // namespace

Table SourceTable(const ReportInput& input) {
  Table table;
  table.columns = {
      {"count", Style::kCount}, {"mark"},  {"line"}, {"source"}, {"file"}, {"branches"},
      {"branches_taken"},       {"blocks"}};
  for (const SourceListing& listing : SourceListings(input)) {
    for (const ListedLine& line : listing.lines) {
      const LineCounts* code = line.code();
      std::string blocks;
      if (code != nullptr) {
        for (const uint64_t block : code->blocks) {
          StrAppend(&blocks, blocks.empty() ? "" : " ", block);
        }
      }
      table.rows.push_back({code != nullptr ? CountCell(code->executions) : Cell::Empty(),
                            Cell::Text(std::string(1, MarkOf(code))), Cell::Int(line.number),
                            Cell::Text(line.text), Cell::Text(NameOf(listing.file)),
                            code != nullptr ? Cell::Int(code->branches) : Cell::Empty(),
                            code != nullptr ? Cell::Int(code->branches_taken) : Cell::Empty(),
                            Cell::Text(blocks)});
    }
  }
  return table;
}

// The files with the most instructions first.
void SourceText(const ReportInput& input, std::ostream& out) {
  std::vector<SourceListing> listings = SourceListings(input);
  if (const size_t without = WithoutSource(listings); without > 0) {
    out << without << " of " << listings.size() << (listings.size() == 1 ? " file" : " files")
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
  for (const SourceListing& listing : listings) {
    if (&listing != &listings.front()) out << '\n';
    WriteHead(listing, out);
    ListingWriter(input, notes, listing, out).Write();
  }
  if (listings.size() < all) out << "\n… " << all - listings.size() << " more files\n";
}

}  // namespace jtrace::postproc
