#include "postproc/report/listing_writer.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "postproc/report/line_cells.h"
#include "postproc/report/line_value.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

constexpr int kTabStop = 4;
// Tabs as blanks; all else that a terminal would obey in a visible form.
std::string SourceText(std::string_view line) {
  std::string blanks;
  int column = 0;
  for (const char c : line) {
    if (c != '\t') {
      blanks.push_back(c);
      column += DisplayWidth({&c, 1});
      continue;
    }
    const int width = kTabStop - column % kTabStop;
    blanks.append(static_cast<size_t>(width), ' ');
    column += width;
  }
  return Printable(blanks);
}

// The beginning of a line, at most `width` columns. Generated sources have lines of any length, and
// so have constants of instructions.
std::string CutEnd(std::string text, int width) {
  if (DisplayWidth(text) <= width) return text;
  size_t end = 0;
  for (int columns = 0; end < text.size(); ++end) {
    columns += DisplayWidth({&text[end], 1});
    if (columns == width) break;
  }
  text.resize(end);
  return text += "…";
}

constexpr int kLeastText = 20;
constexpr int kBranchWidth = 8;
constexpr std::string_view kShare = "percent";

std::string CountText(uint64_t count) { return FormatCount(ToInteger(count)); }

// Of nothing, nothing.
std::string ShareText(std::optional<double> percent) {
  return percent.value_or(0) > 0 ? FormatPercent(*percent) : "";
}

// "     12: iload_1"
std::string NumberedInstruction(const InstructionCounts& instruction) {
  return StrCat(PadLeft(StrCat(instruction.bci), 7), ": ", InstructionText(instruction));
}

std::string BranchesOf(const InstructionCounts& instruction) {
  if (instruction.branches == 0) return "";
  return StrCat(instruction.branches_taken, "/", instruction.branches);
}

}  // namespace

ListingWriter::ListingWriter(const ReportInput& input, const SourceNotes& notes,
                             const SourceListing& listing, const CodeRows* code, std::ostream& out)
    : input_(input),
      notes_(notes),
      listing_(listing),
      code_(code),
      out_(out),
      value_(LineValueOf(input.options)),
      share_value_(ShareValueOf(input)),
      shares_(listing.file.methods, share_value_) {
  for (const ListedLine& line : listing.lines) {
    number_width_ = std::max(number_width_, DisplayWidth(StrCat(line.number)));
    if (!line.counts.has_value()) continue;
    count_width_ = std::max(count_width_, DisplayWidth(CountText(line.counts->executions)));
    value_width_ = std::max(value_width_, DisplayWidth(ValueOf(*line.counts)));
    if (line.counts->branches == 0) continue;
    branch_column_ = std::max(branch_column_, DisplayWidth(SourceText(line.text)));
  }
  if (value_width_ > 0) {
    value_width_ = std::max(value_width_, DisplayWidth(LineValueName(value_)));
  }
  if (shares_.has_any()) share_width_ = DisplayWidth(kShare);
  branch_column_ = std::min(branch_column_, TextWidth() - kBranchWidth);
  for (const MethodLines* method : listing.selected) {
    if (!method->lines.empty()) methods_[method->lines.front().line].push_back(method);
  }
}

// The columns before the text.
int ListingWriter::MarginWidth() const {
  return count_width_ + (value_width_ > 0 ? value_width_ + 1 : 0) +
         (share_width_ > 0 ? share_width_ + 1 : 0) + 3 + number_width_ + 2;
}

int ListingWriter::TextWidth() const {
  constexpr int kUnlimited = 1 << 20;
  const int width = input_.options.width;
  return width <= 0 ? kUnlimited : std::max(width - MarginWidth(), kLeastText);
}

std::string ListingWriter::ValueOf(const LineCounts& line) const {
  return FormatLineValue(value_, postproc::ValueOf(value_, line), input_.units());
}

std::string ListingWriter::ShareOf(const MethodLines& method,
                                   const InstructionCounts& instruction) const {
  return ShareText(shares_.Of(method, postproc::ValueOf(share_value_, instruction)));
}

void ListingWriter::Write() {
  out_ << PadLeft("count", count_width_);
  if (value_width_ > 0) out_ << ' ' << PadLeft(std::string(LineValueName(value_)), value_width_);
  if (share_width_ > 0) out_ << ' ' << kShare;
  out_ << "   " << PadLeft("line", number_width_) << "  source\n";
  for (const ListedLine& line : listing_.lines) {
    if (const auto found = methods_.find(line.number); found != methods_.end()) {
      for (const MethodLines* method : found->second) {
        WriteNote(notes_.OfMethod(*method));
        if (const std::string callees = notes_.CalleesOf(*method); !callees.empty()) {
          WriteNote(StrCat("  ", callees));
        }
      }
    }
    WriteLine(line);
    if (input_.options.blocks && line.counts.has_value() && line.counts->blocks.size() > 1) {
      WriteNote(SourceNotes::OfBlocks(*line.counts));
    }
    const auto* code = code_ == nullptr ? nullptr : code_->Of(line.number);
    if (code == nullptr) continue;
    for (const MethodInstructions& of_method : *code) WriteCode(of_method);
  }
  if (code_ == nullptr) return;
  for (const MethodInstructions& of_method : code_->without_line()) {
    WriteNote(StrCat(notes_.OfMethod(*of_method.method), "; without a line:"));
    WriteCode(of_method);
  }
}

void ListingWriter::WriteRow(const Margin& margin, std::string text, std::string_view branches) {
  if (branches.empty()) {
    text = CutEnd(std::move(text), TextWidth());
  } else {
    text = CutEnd(std::move(text), TextWidth() - kBranchWidth);
    const int padding = std::max(0, branch_column_ - DisplayWidth(text));
    text.append(static_cast<size_t>(padding), ' ');
    StrAppend(&text, "  ", branches);
  }
  std::string row = PadLeft(margin.count, count_width_);
  if (value_width_ > 0) StrAppend(&row, " ", PadLeft(margin.value, value_width_));
  if (share_width_ > 0) StrAppend(&row, " ", PadLeft(margin.share, share_width_));
  StrAppend(&row, " ", std::string(1, margin.mark), " ", PadLeft(margin.number, number_width_),
            "  ", text);
  row.erase(row.find_last_not_of(' ') + 1);
  out_ << row << '\n';
}

void ListingWriter::WriteNote(std::string_view note) {
  WriteRow({"", "", "", '*', ""}, Printable(note), "");
}

void ListingWriter::WriteLine(const ListedLine& line) {
  Margin margin{"", "", "", MarkOf(line.code()), StrCat(line.number)};
  if (line.counts.has_value()) {
    margin.count = CountText(line.counts->executions);
    margin.value = ValueOf(*line.counts);
    margin.share = ShareText(shares_.Of(line.number));
  }
  WriteRow(margin, SourceText(line.text),
           line.counts.has_value() ? BranchesText(*line.counts) : "");
}

void ListingWriter::WriteCode(const MethodInstructions& code) {
  for (const InstructionCounts& instruction : code.instructions) {
    const uint64_t value = postproc::ValueOf(value_, instruction);
    WriteRow({CountText(instruction.count), FormatLineValue(value_, value, input_.units()),
              ShareOf(*code.method, instruction), instruction.count == 0 ? '#' : ' ', ""},
             Printable(NumberedInstruction(instruction)), BranchesOf(instruction));
  }
}

}  // namespace jtrace::postproc
