// Annotated source: each line with how often it ran (S4.7).
#include <algorithm>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "postproc/lines/method_codes.h"
#include "postproc/lines/path_costs.h"
#include "postproc/report/line_cells.h"
#include "postproc/report/report.h"
#include "postproc/report/source_listing.h"
#include "postproc/report/units.h"
#include "postproc/support/strings.h"
#include "postproc/support/wrap.h"

namespace jtrace::postproc {
namespace {

// The comments of an annotated source: of each method its calls and callers, of a line its blocks.
class SourceNotes {
 public:
  // `input` outlives it.
  explicit SourceNotes(const ReportInput& input);
  SourceNotes(const SourceNotes&) = delete;
  SourceNotes& operator=(const SourceNotes&) = delete;

  // "a.B.run(int): 12 calls, 340 instructions, 380 cycles, self 3 ms; called by a.A.main(String[])
  // 12". Callers are those that were counted: the most frequent ones. The measure of the report
  // (self) is left out where it is calls.
  std::string OfMethod(const MethodLines& method) const;
  // "calls a.C.read() 24 (5 ms), a.C.close() 12 (1 ms)": the callees with the most of the report's
  // measure, by name; "" without any.
  std::string CalleesOf(const MethodLines& method) const;
  // "blocks: 12, 0, 5"
  static std::string OfBlocks(const LineCounts& line);

 private:
  std::string CallersOf(RoutineId routine) const;
  std::string SelfOf(RoutineId routine) const;
  bool ShowsMeasure() const;

  const ReportInput& input_;
  const std::vector<Stanza> stanzas_;
  absl::flat_hash_map<RoutineId, const Stanza*> of_routine_;
};

constexpr size_t kMostCallers = 3;
constexpr size_t kMostCallees = 3;

struct Callee {
  int64_t calls = 0;
  int64_t measure = 0;  // with its own callees
};

SourceNotes::SourceNotes(const ReportInput& input)
    : input_(input), stanzas_(input.arcs().Stanzas(input.flat().Sorted())) {
  for (const Stanza& stanza : stanzas_) {
    const FlatRow& row = input.flat().rows()[stanza.self];
    if (row.routine) of_routine_.emplace(row.routine, &stanza);
  }
}

std::string SourceNotes::CallersOf(RoutineId routine) const {
  const auto found = of_routine_.find(routine);
  if (found == of_routine_.end()) return "";
  absl::btree_map<std::string_view, int64_t> calls;
  for (const Arc& arc : found->second->arcs) {
    const FlatRow& caller = input_.flat().rows()[arc.other];
    const bool is_caller = arc.kind == ArcKind::kParent || arc.kind == ArcKind::kRecursiveParent;
    if (!is_caller || caller.is_root || arc.calls == 0) continue;
    calls[caller.name] += arc.calls;
  }
  std::vector<std::pair<std::string_view, int64_t>> callers(calls.begin(), calls.end());
  std::stable_sort(callers.begin(), callers.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (size_t i = 0; i < callers.size() && i < kMostCallers; ++i) {
    StrAppend(&text, i == 0 ? "; called by " : ", ", callers[i].first, " ",
              FormatCount(callers[i].second));
  }
  if (callers.size() > kMostCallers) {
    StrAppend(&text, ", … ", callers.size() - kMostCallers, " more");
  }
  return text;
}

std::string SourceNotes::CalleesOf(const MethodLines& method) const {
  const auto found = of_routine_.find(method.routine);
  if (!method.routine || found == of_routine_.end()) return "";
  absl::btree_map<std::string_view, Callee> by_name;
  for (const Arc& arc : found->second->arcs) {
    const bool is_callee = arc.kind == ArcKind::kChild || arc.kind == ArcKind::kRecursiveChild;
    const bool shows = arc.calls != 0 || (ShowsMeasure() && arc.measure_cum != 0);
    if (!is_callee || !shows) continue;
    Callee& callee = by_name[input_.flat().rows()[arc.other].name];
    callee.calls = WrapAdd(callee.calls, arc.calls);
    callee.measure = WrapAdd(callee.measure, arc.measure_cum);
  }
  std::vector<std::pair<std::string_view, Callee>> callees(by_name.begin(), by_name.end());
  std::stable_sort(callees.begin(), callees.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second.measure, a.second.calls) >
           std::pair(b.second.measure, b.second.calls);
  });
  std::string text;
  for (size_t i = 0; i < callees.size() && i < kMostCallees; ++i) {
    const auto& [name, callee] = callees[i];
    StrAppend(&text, i == 0 ? "calls " : ", ", name);
    if (callee.calls != 0) StrAppend(&text, " ", FormatCount(callee.calls));
    if (ShowsMeasure() && callee.measure != 0) {
      StrAppend(&text, " (", FormatMeasure(input_, callee.measure), ")");
    }
  }
  if (callees.size() > kMostCallees) {
    StrAppend(&text, ", … ", callees.size() - kMostCallees, " more");
  }
  return text;
}

// Not where the lines' own numbers are chosen, of which methods have sums anyway.
bool SourceNotes::ShowsMeasure() const {
  return input_.measure().kind != Measure::Kind::kCalls && !IsCostMetric(input_.options.metric);
}

std::string SourceNotes::SelfOf(RoutineId routine) const {
  const auto found = of_routine_.find(routine);
  if (!ShowsMeasure() || !routine || found == of_routine_.end()) return "";
  const FlatRow& row = input_.flat().rows()[found->second->self];
  return StrCat(", self ", FormatMeasure(input_, row.measure.base), ", total ",
                FormatMeasure(input_, row.measure.cum));
}

std::string SourceNotes::OfMethod(const MethodLines& method) const {
  const std::string name = FullName(method);
  if (method.is_part) {
    return StrCat(name, method.name == kInlinedPart ? ": code in other methods" : ": more of it");
  }
  if (method.never_loaded) {
    return StrCat(name, ": class never loaded", method.was_inlined ? "; inlined elsewhere" : "");
  }
  if (method.calls == 0 && method.instructions == 0) {
    return StrCat(name, ": never called", method.was_inlined ? "; inlined elsewhere" : "");
  }
  return StrCat(name, ": ", FormatCount(ToInteger(method.calls)),
                method.calls == 1 ? " call, " : " calls, ",
                FormatCount(ToInteger(method.instructions)), " instructions, ",
                FormatCount(ToInteger(method.cycles)), " cycles", SelfOf(method.routine),
                CallersOf(method.routine));
}

std::string SourceNotes::OfBlocks(const LineCounts& line) {
  std::string text = "blocks:";
  for (size_t i = 0; i < line.blocks.size(); ++i) {
    StrAppend(&text, i == 0 ? " " : ", ", FormatCount(ToInteger(line.blocks[i])));
  }
  return text;
}

// A run of instructions of one version of a method.
struct MethodInstructions {
  const MethodLines* method = nullptr;
  std::vector<InstructionCounts> instructions;
};

class CodeRows {
 public:
  // Of the selected methods of `listing`.
  CodeRows(const SourceListing& listing, MethodCodes& codes);

  // Null: none on that line.
  const std::vector<MethodInstructions>* Of(int32_t line) const;
  // Those that no line of the source shows: of methods without line numbers, and of code that a
  // compiler made.
  const std::vector<MethodInstructions>& without_line() const { return without_line_; }

 private:
  absl::btree_map<int32_t, std::vector<MethodInstructions>> by_line_;
  std::vector<MethodInstructions> without_line_;
};

CodeRows::CodeRows(const SourceListing& listing, MethodCodes& codes) {
  for (const MethodLines* method : listing.selected) {
    for (MethodCode& version : codes.Of(*method)) {
      // A line may have several pieces of a method: they follow each other.
      absl::btree_map<int32_t, std::vector<InstructionCounts>> by_line;
      for (InstructionCounts& instruction : version.instructions) {
        by_line[instruction.line].push_back(std::move(instruction));
      }
      for (auto& [line, instructions] : by_line) {
        auto& rows = line > 0 ? by_line_[line] : without_line_;
        rows.push_back({method, std::move(instructions)});
      }
    }
  }
}

const std::vector<MethodInstructions>* CodeRows::Of(int32_t line) const {
  const auto found = by_line_.find(line);
  return found == by_line_.end() ? nullptr : &found->second;
}

// "iload_1", "invokestatic  Method f:(I)Z"
std::string InstructionText(const InstructionCounts& instruction) {
  if (instruction.operands.empty()) return instruction.mnemonic;
  constexpr size_t kMnemonicWidth = 14;
  std::string text = instruction.mnemonic;
  text.resize(std::max(text.size() + 1, kMnemonicWidth), ' ');
  return text + instruction.operands;
}

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
