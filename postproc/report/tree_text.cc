#include "postproc/report/tree_text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "postproc/report/chain_text.h"
#include "postproc/report/shorten.h"
#include "postproc/report/tree_branches.h"
#include "postproc/report/tree_numbers.h"
#include "postproc/report/tree_view.h"
#include "postproc/report/tree_walk.h"
#include "postproc/report/units.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

class TreeTextWriter {
 public:
  TreeTextWriter(const ReportInput& input, const TreeTextOptions& options, std::ostream& out)
      : input_(input),
        options_(options),
        out_(out),
        view_(input, input.options.sort),
        kinds_(CodeOwners(input.model)),
        columns_(input),
        branches_(input.options.width > 0 ? std::max(input.options.width - columns_.width(), 1)
                                          : 0) {}

  void Write();

 private:
  TreeWalk Walk() const {
    return {input_,
            view_,
            kinds_,
            {options_.filter_percent, options_.program_first, options_.folds_chains,
             options_.heaviest}};
  }
  void FitLines();
  // Writes the lines that were made.
  void Flush() {
    out_ << lines_;
    lines_.clear();
  }
  void WriteLine(const TreeWalk& walk, const TreeLine& line);
  void WriteLeftOut(const LeftOutNodes& left);
  void WriteMore(int64_t branches);
  // Columns for a name after `used` ones; 0: no limit.
  int RoomAfter(int used) const {
    return input_.options.width > 0 ? std::max(input_.options.width - columns_.width() - used, 1)
                                    : 0;
  }
  std::string NameOf(const TreeWalk& walk, const TreeLine& line, int used);
  std::string NameOfThread(const TreeWalk& walk, NodeId id, int used) const;
  std::string NameOfChain(const TreeLine& line, int used) const;

  const ReportInput& input_;
  TreeTextOptions options_;
  std::ostream& out_;
  const TreeView view_;
  const std::vector<CodeOwner> kinds_;
  TreeNumbers columns_;
  TreeBranches branches_;
  std::string lines_;  // not written yet: a stream costs as much as a line
  ShortNames names_;
};

std::string TreeTextWriter::NameOfThread(const TreeWalk& walk, NodeId id, int used) const {
  const int64_t threads = input_.model.thread(input_.tree.node(id).thread).folded_threads;
  const std::string what = threads > 1 ? FormatCount(threads) + " threads " : "thread ";
  const std::string_view note = walk.IsCollapsed(id) ? "  (--thread shows its frames)" : "";
  const std::string name = Printable(view_.Name(id));
  const int room = RoomAfter(used + DisplayWidth(what));
  if (room == 0 || DisplayWidth(name) + DisplayWidth(note) <= room) return StrCat(what, name, note);
  return StrCat(what, Shorten(name, std::max(room, kLeastNameWidth)));
}

std::string TreeTextWriter::NameOfChain(const TreeLine& line, int used) const {
  const std::vector<std::string> texts = ChainTexts(input_, kinds_, line);
  const int room = RoomAfter(used);
  for (const std::string& text : texts) {
    if (room == 0 || DisplayWidth(text) <= room) return text;
  }
  return texts.back();
}

std::string TreeTextWriter::NameOf(const TreeWalk& walk, const TreeLine& line, int used) {
  switch (line.kind) {
    case TreeLine::Kind::kSmallThreads:
    case TreeLine::Kind::kSmallPaths:
      return StrCat("… ",
                    Counted(static_cast<int64_t>(line.count),
                            line.kind == TreeLine::Kind::kSmallPaths ? "path" : "thread"),
                    absl::StrFormat(" below %.2g %% each", options_.filter_percent));
    case TreeLine::Kind::kChain:
      return NameOfChain(line, used);
    case TreeLine::Kind::kUnnamed:
      return StrCat("[", FileOfUnnamed(view_.Name(line.id)), "]");
    case TreeLine::Kind::kNode:
      break;
  }
  const CallNode& node = input_.tree.node(line.id);
  if (node.origin == NodeOrigin::kThread) return NameOfThread(walk, line.id, used);
  // The caller is in the line above.
  const std::string place = node.place == kNoCallSite ? "" : StrCat(PlaceText(node.place), " > ");
  return place + names_.Shorten(input_.model.RoutineName(node.routine),
                                RoomAfter(used + DisplayWidth(place)));
}

void TreeTextWriter::WriteLine(const TreeWalk& walk, const TreeLine& line) {
  const std::string branch = branches_.Next(line.depth, line.is_last);
  TreeNumbers::Values values;
  values.total = line.total;
  if (line.has_node()) {
    const CallNode& node = input_.tree.node(line.id);
    const NodeTotals& totals = input_.totals()[line.id.value - 1];
    values.self = line.self;
    values.time = totals.cum;
    values.waiting = totals.off;
    if (node.origin == NodeOrigin::kEvent) values.calls = node.calls;
  }
  constexpr size_t kMostWaiting = 1 << 16;
  StrAppend(&lines_, columns_.Line(values), branch, NameOf(walk, line, DisplayWidth(branch)), "\n");
  if (lines_.size() >= kMostWaiting) Flush();
}

// Raises the filter until the tree fits the lines, if possible.
void TreeTextWriter::FitLines() {
  if (options_.max_lines == 0 || options_.filter_percent == 0 || options_.heaviest > 0) return;
  constexpr double kMostPercent = 3;  // deep chains would leave no room for others
  for (; options_.filter_percent < kMostPercent; options_.filter_percent *= 1.25) {
    TreeWalk walk = Walk();
    TreeLine line;
    size_t lines = 0;
    while (lines <= options_.max_lines && walk.Next(line)) ++lines;
    if (lines <= options_.max_lines) return;
  }
}

void TreeTextWriter::WriteLeftOut(const LeftOutNodes& left) {
  if (left.count == 0) return;
  TreeNumbers::Values values;
  values.share = false;
  values.self = left.self;
  out_ << columns_.Line(values) << "… " << Counted(left.count, "node") << " left out";
  const double share = PercentOf(left.self, input_.measure().whole);
  if (left.self != 0) {
    out_ << (left.count == 1 ? ", with " : ", together with ") << FormatPercent(share)
         << " of the whole";
  }
  out_ << '\n';
}

void TreeTextWriter::WriteMore(int64_t branches) {
  const std::string text =
      StrCat("… ", Counted(branches, "more hot branch", "more hot branches"),
             absl::StrFormat(": --report=tree --filter=%.2g shows more", options_.filter_percent));
  const int width = input_.options.width;
  const int room = width > 0 ? std::max(width - DisplayWidth(text), 0) : columns_.width();
  out_ << std::string(static_cast<size_t>(std::min(room, columns_.width())), ' ') << text << '\n';
}

void TreeTextWriter::Write() {
  FitLines();
  out_ << columns_.Header() << '\n';
  TreeWalk walk = Walk();
  TreeLine line;
  const bool has_limit = options_.max_lines != 0 && options_.heaviest == 0;
  for (size_t lines = 0;; ++lines) {
    const size_t waiting = has_limit && lines >= options_.max_lines ? walk.WaitingNodes() : 0;
    if (waiting > 0) {
      Flush();
      WriteMore(static_cast<int64_t>(waiting));
      break;
    }
    if (!walk.Next(line)) break;
    WriteLine(walk, line);
  }
  Flush();
  if (options_.heaviest > 0) WriteLeftOut(walk.LeftOut());
  if (const std::string missing = columns_.LeftOut(); !missing.empty()) {
    out_ << "not shown at this width: " << missing << " (--wide)\n";
  }
}

}  // namespace

void WriteTreeText(const ReportInput& input, const TreeTextOptions& options, std::ostream& out) {
  TreeTextWriter(input, options, out).Write();
}

}  // namespace jtrace::postproc
