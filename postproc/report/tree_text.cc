#include "postproc/report/tree_text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "postproc/report/shorten.h"
#include "postproc/report/tree_view.h"
#include "postproc/report/units.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

// Lines of branches are drawn down to this level; deeper nodes show their level instead.
constexpr size_t kMaxDrawnLevel = 32;

class TreeTextWriter {
 public:
  TreeTextWriter(const ReportInput& input, const TreeTextOptions& options, std::ostream& out)
      : input_(input),
        options_(options),
        out_(out),
        view_(input, input.options.sort),
        measure_(input.measure) {
    for (const NodeId root : input.tree.roots()) {
      const NodeTotals& totals = TotalsOf(root);
      clocked_ = WrapAdd(clocked_, totals.elapsed());
      has_waiting_ = has_waiting_ || (!measure_.is_chosen && totals.off != 0);
    }
    has_time_ = !measure_.is_chosen && measure_.kind == Measure::Kind::kTicks && clocked_ != 0;
  }

  void Write();

 private:
  struct Pending {
    NodeId id;           // none: the line for folded nodes
    std::string branch;  // drawn before the name
    std::string below;   // drawn before the names of children
    size_t folded = 0;
    int64_t folded_cum = 0;
  };

  const NodeTotals& TotalsOf(NodeId id) const { return input_.totals[id.value - 1]; }
  double ShareOf(int64_t cum) const { return PercentOf(cum, measure_.whole); }
  bool IsHot(int64_t cum) const {
    return options_.filter_percent == 0 || ShareOf(cum) >= options_.filter_percent;
  }
  // By the samples, or by the clock: waiting code has no samples.
  bool IsHotNode(NodeId id) const {
    return IsHot(measure_.Cum(id)) ||
           (!measure_.is_chosen && measure_.kind != Measure::Kind::kCalls &&
            PercentOf(TotalsOf(id).elapsed(), clocked_) >= options_.filter_percent);
  }
  // Samples have no values of --metric: neither do nodes that only samples made, nor threads that
  // only samples saw.
  bool IsLeftOut(NodeId id) const;
  // Whether any event entered the thread's tree; false for all if that does not matter.
  bool HasEvents(NodeId root) const;
  bool HasEventBelow(NodeId root) const;
  bool IsCollapsed(NodeId id) const {
    return collapses_ && input_.tree.node(id).origin == NodeOrigin::kThread && !HasEvents(id);
  }
  void FitLines();
  size_t HotNodes(NodeId root) const;
  void PushRoots();
  void PushChildren(const Pending& parent);
  void WriteHeader();
  void WriteNode(const Pending& at);
  void WriteFolded(const Pending& at);
  struct Columns {
    std::string share, total, self, time, waiting, calls;
  };
  // Characters before the branches and the name.
  int Indent() const;
  void WriteColumns(const Columns& columns, std::string_view name);

  const ReportInput& input_;
  TreeTextOptions options_;
  std::ostream& out_;
  const TreeView view_;
  const Measure& measure_;
  std::vector<Pending> pending_;
  bool collapses_ = false;
  int64_t clocked_ = 0;       // the clock's time of all threads, waiting and all
  bool has_time_ = false;     // beside the ticks
  bool has_waiting_ = false;  // time off the processors
};

constexpr int kShareWidth = 8, kTimeWidth = 10;

// Counts are not scaled.
int TreeAmountWidth(const Measure& measure) {
  return StyleOf(measure) == Style::kCount ? kCallsWidth : kTimeWidth;
}

int TreeTextWriter::Indent() const {
  const int amounts = measure_.is_more_than_calls() ? 2 * TreeAmountWidth(measure_) : 0;
  return kShareWidth + amounts + (has_time_ + has_waiting_) * kTimeWidth + kCallsWidth + 2;
}

void TreeTextWriter::WriteColumns(const Columns& columns, std::string_view name) {
  std::string line = PadLeft(columns.share, kShareWidth);
  const auto add = [&line](bool is_shown, std::string_view text, int width) {
    if (is_shown) line += PadLeft(text, width);
  };
  add(measure_.is_more_than_calls(), columns.total, TreeAmountWidth(measure_));
  add(measure_.is_more_than_calls(), columns.self, TreeAmountWidth(measure_));
  add(has_time_, columns.time, kTimeWidth);
  add(has_waiting_, columns.waiting, kTimeWidth);
  line += StrCat(PadLeft(columns.calls, kCallsWidth), "  ", name);
  out_ << line << '\n';
}

void TreeTextWriter::WriteHeader() {
  const bool in_ticks = measure_.kind == Measure::Kind::kTicks && input_.units().interval_ns == 0;
  WriteColumns({"share", in_ticks ? "ticks" : "total", "self", "time", "waiting", "calls"},
               StrCat("call tree", ByMeasure(input_)));
}

bool TreeTextWriter::IsLeftOut(NodeId id) const {
  if (!measure_.is_chosen || measure_.kind == Measure::Kind::kTicks || measure_.Cum(id) != 0) {
    return false;
  }
  const CallNode& node = input_.tree.node(id);
  if (node.origin == NodeOrigin::kSample) return true;
  return node.origin == NodeOrigin::kThread && !HasEventBelow(id);
}

void TreeTextWriter::PushRoots() {
  size_t folded = 0;
  int64_t folded_cum = 0;
  std::vector<NodeId> shown;
  for (const NodeId root : input_.tree.roots()) {
    if (IsLeftOut(root)) continue;
    if (IsHotNode(root) || input_.tree.roots().size() == 1) {
      shown.push_back(root);
    } else {
      ++folded;
      folded_cum = WrapAdd(folded_cum, measure_.Cum(root));
    }
  }
  const auto rank = [this](NodeId root) { return std::pair(HasEvents(root), measure_.Cum(root)); };
  std::stable_sort(shown.begin(), shown.end(),
                   [&](NodeId a, NodeId b) { return rank(a) > rank(b); });
  collapses_ = options_.program_first &&
               std::any_of(shown.begin(), shown.end(), [&](NodeId id) { return HasEvents(id); });
  if (folded > 0) pending_.push_back({NodeId(), "", "", folded, folded_cum});
  for (auto root = shown.rbegin(); root != shown.rend(); ++root) {
    pending_.push_back({*root, "", "", 0, 0});
  }
}

bool TreeTextWriter::HasEvents(NodeId root) const {
  return options_.program_first && HasEventBelow(root);
}

bool TreeTextWriter::HasEventBelow(NodeId root) const {
  for (NodeId at = input_.tree.node(root).first_child; at; at = input_.tree.node(at).next_sibling) {
    const CallNode& node = input_.tree.node(at);
    // Threads without Java code have hooks' calls, too.
    if (node.origin == NodeOrigin::kEvent && !input_.model.IsHooked(node.routine)) return true;
  }
  return false;
}

void TreeTextWriter::PushChildren(const Pending& parent) {
  if (IsCollapsed(parent.id)) return;
  std::vector<NodeId> shown;
  size_t folded = 0;
  int64_t folded_cum = 0;
  for (const NodeId child : view_.SortedChildren(parent.id)) {
    if (IsLeftOut(child)) continue;
    if (IsHotNode(child)) {
      shown.push_back(child);
    } else {
      ++folded;
      folded_cum = WrapAdd(folded_cum, measure_.Cum(child));
    }
  }
  // Nodes that are small even together are not shown; only the difference between the lines shows
  // them.
  if (!IsHot(folded_cum)) folded = 0;
  const size_t level = input_.tree.node(parent.id).level + size_t{1};
  const bool drawn = level <= kMaxDrawnLevel;
  const std::string deep = drawn ? "" : StrCat("⋯", level, " ");
  if (folded > 0) {
    pending_.push_back(
        {NodeId(), drawn ? StrCat(parent.below, "└─ ") : deep, "", folded, folded_cum});
  }
  for (size_t i = shown.size(); i-- > 0;) {
    const bool last = i + 1 == shown.size() && folded == 0;
    Pending child;
    child.id = shown[i];
    child.branch = drawn ? StrCat(parent.below, last ? "└─ " : "├─ ") : deep;
    child.below = drawn ? StrCat(parent.below, last ? "   " : "│  ") : "";
    pending_.push_back(std::move(child));
  }
}

void TreeTextWriter::WriteNode(const Pending& at) {
  const CallNode& node = input_.tree.node(at.id);
  const int64_t self = measure_.Base(at.id);
  const int used = Indent() + DisplayWidth(at.branch);
  std::string name(view_.Name(at.id));
  if (node.origin == NodeOrigin::kThread) {
    const int64_t threads = input_.model.thread(node.thread).folded_threads;
    name = StrCat(threads > 1 ? FormatCount(threads) + " threads " : "thread ", name,
                  IsCollapsed(at.id) ? "  (--thread shows its frames)" : "");
  }
  // The caller is in the line above.
  const std::string place = node.place == kNoCallPlace ? "" : StrCat(PlaceText(node.place), " > ");
  name = place + FitName(name, input_.options.width, used + DisplayWidth(place));
  const bool counted = node.origin == NodeOrigin::kEvent && node.calls > 0;
  const NodeTotals& totals = TotalsOf(at.id);
  const auto time = [this](int64_t value) { return value == 0 ? "" : input_.units().Time(value); };
  WriteColumns(
      {absl::StrFormat("%.1f %%", ShareOf(measure_.Cum(at.id))),
       FormatMeasure(input_, measure_.Cum(at.id)), self == 0 ? "" : FormatMeasure(input_, self),
       time(totals.cum), time(totals.off), counted ? FormatCount(node.calls) : ""},
      StrCat(at.branch, name));
}

void TreeTextWriter::WriteFolded(const Pending& at) {
  const std::string_view what = at.branch.empty() ? "thread" : "path";
  WriteColumns({absl::StrFormat("%.1f %%", ShareOf(at.folded_cum)),
                FormatMeasure(input_, at.folded_cum), "", "", "", ""},
               absl::StrFormat("%s… %d %s%s below %.2g %% each", at.branch, at.folded, what,
                               at.folded == 1 ? "" : "s", options_.filter_percent));
}

// Raises the filter until the hot nodes fit the lines, if possible.
void TreeTextWriter::FitLines() {
  if (options_.max_lines == 0 || options_.filter_percent == 0) return;
  constexpr double kMostPercent = 3;  // deep chains would leave no room for others
  while (options_.filter_percent < kMostPercent) {
    size_t hot = 0;
    for (const NodeId root : input_.tree.roots()) hot += HotNodes(root);
    if (hot <= options_.max_lines) return;
    options_.filter_percent *= 1.25;
  }
}

// Nodes of a thread that would be drawn.
size_t TreeTextWriter::HotNodes(NodeId root) const {
  size_t hot = 0;
  std::vector<NodeId> pending = {root};
  while (!pending.empty()) {
    const NodeId at = pending.back();
    pending.pop_back();
    if ((measure_.Cum(at) == 0 && TotalsOf(at).elapsed() == 0) || !IsHotNode(at)) continue;
    ++hot;
    if (IsCollapsed(at)) continue;
    for (NodeId child = input_.tree.node(at).first_child; child;
         child = input_.tree.node(child).next_sibling) {
      pending.push_back(child);
    }
  }
  return hot;
}

void TreeTextWriter::Write() {
  const auto& roots = input_.tree.roots();
  collapses_ = std::any_of(roots.begin(), roots.end(), [this](NodeId id) { return HasEvents(id); });
  FitLines();
  WriteHeader();
  PushRoots();
  size_t lines = 0;
  while (!pending_.empty()) {
    if (options_.max_lines != 0 && lines == options_.max_lines) {
      const auto left = std::count_if(pending_.begin(), pending_.end(),
                                      [](const Pending& at) { return static_cast<bool>(at.id); });
      out_ << absl::StrFormat("%*s… %d more hot branches: --report=tree --filter=%g shows all\n",
                              Indent(), "", left, options_.filter_percent);
      return;
    }
    ++lines;
    const Pending at = std::move(pending_.back());
    pending_.pop_back();
    if (!at.id) {
      WriteFolded(at);
      continue;
    }
    WriteNode(at);
    PushChildren(at);
  }
}

}  // namespace

void WriteTreeText(const ReportInput& input, const TreeTextOptions& options, std::ostream& out) {
  TreeTextWriter(input, options, out).Write();
}

}  // namespace jtrace::postproc
