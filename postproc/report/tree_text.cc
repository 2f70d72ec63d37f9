#include "postproc/report/tree_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/strings/str_format.h"
#include "postproc/model/code_owner.h"
#include "postproc/report/report.h"
#include "postproc/report/shorten.h"
#include "postproc/report/thread_order.h"
#include "postproc/report/tree_branches.h"
#include "postproc/report/tree_view.h"
#include "postproc/report/units.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

// The lines of the call tree as text, from the top: nodes, chains of nodes in one line, and lines
// for what is left out.
struct TreeWalkOptions {
  double filter_percent = 0;  // nodes below that share of the whole are left out
  // Threads with events come first; the others have only one line.
  bool program_first = false;
  bool folds_chains = true;
  int64_t heaviest = 0;  // only so many nodes, and those above them; 0: all
};

struct TreeLine {
  enum class Kind : uint8_t {
    kNode,
    kChain,    // nodes of one child each, without self of weight
    kUnnamed,  // native functions of one file without names
    kSmallThreads,
    kSmallPaths,
  };
  Kind kind = Kind::kNode;
  NodeId id;            // of a chain its outermost node; none: a line for what is left out
  NodeId end;           // of a chain its innermost node, else the same
  uint32_t depth = 0;   // lines above that lead to it
  bool is_last = true;  // of its siblings
  int64_t total = 0;
  int64_t self = 0;    // of a chain: of all its nodes
  uint64_t count = 1;  // nodes of a chain; threads or paths that are left out
  bool has_node() const { return static_cast<bool>(id); }
};

// What a walk with `heaviest` leaves out: together with the lines it is the whole tree.
struct LeftOutNodes {
  int64_t count = 0;
  int64_t self = 0;
};

class TreeWalk {
 public:
  // All must outlive it.
  TreeWalk(const ReportInput& input, const TreeView& view, const std::vector<CodeOwner>& kinds,
           const TreeWalkOptions& options);

  // False at the end.
  bool Next(TreeLine& line);
  // Known lines of nodes that Next has still to return.
  size_t WaitingNodes() const;
  LeftOutNodes LeftOut() const;
  // A thread that has only one line.
  bool IsCollapsed(NodeId id) const;

 private:
  struct Children {
    std::vector<NodeId> shown;
    uint64_t small = 0;
    int64_t small_total = 0;
  };

  double ShareOf(int64_t value) const;
  bool IsHot(int64_t total) const;
  // By the samples, or by the clock: waiting code has no samples.
  bool IsHotNode(NodeId id) const;
  bool IsShown(NodeId id) const;
  // Samples have no values of --metric: neither do nodes that only samples made, nor threads that
  // only samples saw.
  bool IsIgnored(NodeId id) const;
  void SelectHeaviest();
  void PushRoots();
  void PushChildren(const TreeLine& parent);
  Children ChildrenOf(NodeId parent) const;
  // None: it has none, or more than one line below.
  NodeId OnlyChild(NodeId id) const;
  TreeLine LineOf(NodeId id) const;
  bool MayFold(NodeId id) const;
  bool AreAlike(NodeId above, NodeId below) const;
  bool FoldChain(TreeLine& line) const;
  bool FoldUnnamed(TreeLine& line) const;
  CodeOwner OwnerOf(NodeId id) const { return kinds_[input_.tree.routine(id).value]; }
  std::string_view UnnamedFile(NodeId id) const {
    return unnamed_files_[input_.tree.routine(id).value];
  }

  const ReportInput& input_;
  const TreeView& view_;
  const std::vector<CodeOwner>& kinds_;
  const TreeWalkOptions options_;
  const Measure& measure_;
  int64_t clocked_ = 0;  // the clock's time of all threads, waiting and all
  bool collapses_ = false;
  std::vector<std::string_view> unnamed_files_;  // by routine
  std::vector<bool> selected_;                   // by NodeId.value - 1; empty: all
  std::vector<TreeLine> pending_;                // the next one last
};

// A chain of fewer nodes is as readable as the line for it. The program's own are what people look
// for.
constexpr uint64_t kLeastChain = 3;
constexpr uint64_t kLeastProgramChain = 4;
// In percent: what a chain's nodes may have themselves.
constexpr double kWeightless = 0.1;

TreeWalk::TreeWalk(const ReportInput& input, const TreeView& view,
                   const std::vector<CodeOwner>& kinds, const TreeWalkOptions& options)
    : input_(input), view_(view), kinds_(kinds), options_(options), measure_(input.measure()) {
  const auto& roots = input.tree.roots();
  for (const NodeId root : roots) {
    clocked_ = WrapAdd(clocked_, input.totals()[root.value - 1].elapsed());
  }
  collapses_ = options_.program_first && std::any_of(roots.begin(), roots.end(), [&](NodeId root) {
                 return HasEvents(input, root);
               });
  unnamed_files_.resize(input.model.routine_count() + 1);
  for (uint32_t i = 1; i < unnamed_files_.size(); ++i) {
    unnamed_files_[i] = FileOfUnnamed(input.model.RoutineName(RoutineId(i)));
  }
  if (options_.heaviest > 0) SelectHeaviest();
  PushRoots();
}

double TreeWalk::ShareOf(int64_t value) const { return PercentOf(value, measure_.whole); }

bool TreeWalk::IsHot(int64_t total) const {
  return options_.filter_percent == 0 || ShareOf(total) >= options_.filter_percent;
}

bool TreeWalk::IsHotNode(NodeId id) const {
  return IsHot(measure_.Cum(id)) ||
         (!measure_.is_chosen && measure_.kind != Measure::Kind::kCalls &&
          PercentOf(input_.totals()[id.value - 1].elapsed(), clocked_) >= options_.filter_percent);
}

bool TreeWalk::IsShown(NodeId id) const {
  return selected_.empty() ? IsHotNode(id) : selected_[id.value - 1];
}

bool TreeWalk::IsIgnored(NodeId id) const {
  if (!measure_.is_chosen || measure_.kind == Measure::Kind::kTicks || measure_.Cum(id) != 0) {
    return false;
  }
  const CallNode& node = input_.tree.node(id);
  if (node.origin == NodeOrigin::kSample) return true;
  return node.origin == NodeOrigin::kThread && !HasEvents(input_, id);
}

bool TreeWalk::IsCollapsed(NodeId id) const {
  return collapses_ && input_.tree.node(id).origin == NodeOrigin::kThread && !HasEvents(input_, id);
}

// The weight is the node's own: with callees, all heavy nodes are on the way to one.
void TreeWalk::SelectHeaviest() {
  std::vector<NodeId> nodes;
  for (uint32_t i = 1; i <= input_.tree.size(); ++i) {
    if (view_.Weight(NodeId(i)) != 0 && IsHotNode(NodeId(i))) nodes.emplace_back(i);
  }
  const auto most = std::min<size_t>(nodes.size(), static_cast<size_t>(options_.heaviest));
  std::partial_sort(nodes.begin(), nodes.begin() + static_cast<ptrdiff_t>(most), nodes.end(),
                    [this](NodeId a, NodeId b) {
                      return std::tuple(-view_.Weight(a), a.value) <
                             std::tuple(-view_.Weight(b), b.value);
                    });
  selected_.resize(input_.tree.size());
  if (input_.tree.roots().size() == 1) selected_[input_.tree.roots().front().value - 1] = true;
  for (size_t i = 0; i < most; ++i) {
    for (NodeId at = nodes[i]; at && !selected_[at.value - 1]; at = input_.tree.node(at).parent) {
      selected_[at.value - 1] = true;
    }
  }
}

LeftOutNodes TreeWalk::LeftOut() const {
  LeftOutNodes left;
  for (uint32_t i = 1; i <= selected_.size(); ++i) {
    if (selected_[i - 1]) continue;
    ++left.count;
    left.self = WrapAdd(left.self, measure_.Base(NodeId(i)));
  }
  return left;
}

TreeLine TreeWalk::LineOf(NodeId id) const {
  TreeLine line;
  line.id = line.end = id;
  line.total = measure_.Cum(id);
  line.self = measure_.Base(id);
  return line;
}

void TreeWalk::PushRoots() {
  const auto& roots = input_.tree.roots();
  TreeLine small;
  small.kind = TreeLine::Kind::kSmallThreads;
  small.count = 0;
  std::vector<NodeId> shown;
  for (const NodeId root : roots) {
    if (IsIgnored(root)) continue;
    if (IsShown(root) || roots.size() == 1) {
      shown.push_back(root);
    } else if (selected_.empty()) {
      ++small.count;
      small.total = WrapAdd(small.total, measure_.Cum(root));
    }
  }
  const auto rank = [this](NodeId root) {
    return std::tuple(!IsThreadOfJvm(input_, root),
                      options_.program_first && HasEvents(input_, root), measure_.Cum(root));
  };
  std::stable_sort(shown.begin(), shown.end(),
                   [&](NodeId a, NodeId b) { return rank(a) > rank(b); });
  if (small.count > 0) pending_.push_back(small);
  for (size_t i = shown.size(); i-- > 0;) pending_.push_back(LineOf(shown[i]));
}

TreeWalk::Children TreeWalk::ChildrenOf(NodeId parent) const {
  Children children;
  if (IsCollapsed(parent)) return children;
  for (const NodeId child : view_.SortedChildren(parent)) {
    if (IsIgnored(child)) continue;
    if (IsShown(child)) {
      children.shown.push_back(child);
    } else if (selected_.empty()) {
      ++children.small;
      children.small_total = WrapAdd(children.small_total, measure_.Cum(child));
    }
  }
  // Nodes that are small even together are not shown; only the difference between the lines shows
  // them.
  if (!IsHot(children.small_total)) children.small = 0;
  return children;
}

NodeId TreeWalk::OnlyChild(NodeId id) const {
  if (IsCollapsed(id)) return NodeId();
  NodeId only;
  int64_t small_total = 0;
  bool has_small = false;
  for (NodeId child = input_.tree.node(id).first_child; child;
       child = input_.tree.node(child).next_sibling) {
    if (IsIgnored(child)) continue;
    if (IsShown(child)) {
      if (only) return NodeId();
      only = child;
    } else if (selected_.empty()) {
      has_small = true;
      small_total = WrapAdd(small_total, measure_.Cum(child));
    }
  }
  return has_small && IsHot(small_total) ? NodeId() : only;
}

void TreeWalk::PushChildren(const TreeLine& parent) {
  const Children children = ChildrenOf(parent.end);
  const uint32_t depth = parent.depth + 1;
  if (children.small > 0) {
    TreeLine small;
    small.kind = TreeLine::Kind::kSmallPaths;
    small.depth = depth;
    small.total = children.small_total;
    small.count = children.small;
    pending_.push_back(small);
  }
  for (size_t i = children.shown.size(); i-- > 0;) {
    TreeLine line = LineOf(children.shown[i]);
    line.depth = depth;
    line.is_last = i + 1 == children.shown.size() && children.small == 0;
    if (options_.folds_chains && !FoldChain(line)) FoldUnnamed(line);
    pending_.push_back(line);
  }
}

bool TreeWalk::MayFold(NodeId id) const {
  const CodeOwner kind = OwnerOf(id);
  if (kind == CodeOwner::kOther) return false;
  // Calls are what it shows.
  return measure_.is_more_than_calls() || input_.tree.node(id).origin == NodeOrigin::kSample ||
         options_.filter_percent > 0;
}

// The program's methods that are called equally often, or any code of others.
bool TreeWalk::AreAlike(NodeId above, NodeId below) const {
  const bool is_program = OwnerOf(above) == CodeOwner::kProgram;
  if (is_program != (OwnerOf(below) == CodeOwner::kProgram)) return false;
  return input_.tree.node(above).calls == input_.tree.node(below).calls;
}

bool TreeWalk::FoldChain(TreeLine& line) const {
  const NodeId parent = input_.tree.node(line.id).parent;
  const bool is_program = OwnerOf(line.id) == CodeOwner::kProgram;
  // Where others call the program is what people look for.
  const bool is_entry =
      is_program && (!input_.tree.node(parent).parent || OwnerOf(parent) != CodeOwner::kProgram);
  if (is_entry) return false;
  const double limit = std::max(options_.filter_percent, kWeightless);
  int64_t self = 0;
  uint64_t count = 0;
  NodeId end;
  for (NodeId at = line.id; at && MayFold(at); ++count) {
    const NodeId child = OnlyChild(at);
    const int64_t longer = WrapAdd(self, measure_.Base(at));
    if (!child || std::abs(ShareOf(longer)) >= limit) break;
    if (end && !AreAlike(end, at)) break;
    end = at;
    self = longer;
    at = child;
  }
  if (count < (is_program ? kLeastProgramChain : kLeastChain)) return false;
  line.kind = TreeLine::Kind::kChain;
  line.end = end;
  line.self = self;
  line.count = count;
  return true;
}

bool TreeWalk::FoldUnnamed(TreeLine& line) const {
  const std::string_view file = UnnamedFile(line.id);
  if (file.empty()) return false;
  for (NodeId at = OnlyChild(line.id); at && UnnamedFile(at) == file; at = OnlyChild(at)) {
    line.kind = TreeLine::Kind::kUnnamed;
    line.end = at;
    line.self = WrapAdd(line.self, measure_.Base(at));
    ++line.count;
  }
  return line.kind == TreeLine::Kind::kUnnamed;
}

bool TreeWalk::Next(TreeLine& line) {
  if (pending_.empty()) return false;
  line = pending_.back();
  pending_.pop_back();
  if (line.has_node()) PushChildren(line);
  return true;
}

size_t TreeWalk::WaitingNodes() const {
  return static_cast<size_t>(std::count_if(pending_.begin(), pending_.end(),
                                           [](const TreeLine& line) { return line.has_node(); }));
}

// The numbers before the names of a tree's nodes.
class TreeNumbers {
 public:
  explicit TreeNumbers(const ReportInput& input);

  struct Values {
    bool share = true;
    int64_t total = 0, self = 0;    // of the measure
    int64_t time = 0, waiting = 0;  // of the clock
    int64_t calls = 0;

    bool operator==(const Values&) const = default;
  };
  // With the blanks before the name; 0 is blank, except for a total. Valid until the next call.
  const std::string& Line(const Values& values);
  std::string Header() const;
  std::string Blank() const { return std::string(static_cast<size_t>(width_), ' '); }
  int width() const { return width_; }
  // "time, waiting": for which a line has no room.
  std::string LeftOut() const;

 private:
  // Most nodes of a large tree have the numbers of others.
  struct KeptLine {
    Values values;
    std::string line;  // empty: none is kept
  };

  std::string NewLine(const Values& values) const;
  std::string Join(std::string_view share, std::string_view total, std::string_view self,
                   std::string_view time, std::string_view waiting, std::string_view calls) const;

  const ReportInput& input_;
  const bool has_amounts_;
  bool has_time_ = false, has_waiting_ = false;      // to show
  bool shows_time_ = false, shows_waiting_ = false;  // and there is room
  int share_width_ = 8, amount_width_ = 10, time_width_ = 10, calls_width_ = kCallsWidth;
  int width_ = 0;
  std::vector<KeptLine> kept_;  // by a hash of the values
};

// Narrower lines have only the measure and the calls, in columns as narrow as they can be.
constexpr int kWidthForWaiting = 100;
constexpr int kWidthForTime = 110;
constexpr size_t kKeptLines = 1024;

int64_t MostCalls(const CallTree& tree) {
  int64_t most = 0;
  for (uint32_t i = 1; i <= tree.size(); ++i) {
    const CallNode& node = tree.node(NodeId(i));
    if (node.origin == NodeOrigin::kEvent) most = std::max(most, node.calls);
  }
  return most;
}

TreeNumbers::TreeNumbers(const ReportInput& input)
    : input_(input), has_amounts_(input.measure().is_more_than_calls()), kept_(kKeptLines) {
  const Measure& measure = input.measure();
  int64_t clocked = 0;
  for (const NodeId root : input.tree.roots()) {
    const NodeTotals& totals = input.totals()[root.value - 1];
    clocked = WrapAdd(clocked, totals.elapsed());
    has_waiting_ = has_waiting_ || (!measure.is_chosen && totals.off != 0);
  }
  has_time_ = !measure.is_chosen && measure.kind == Measure::Kind::kTicks && clocked != 0;
  const int width = input.options.width;
  const auto has_room = [width](int least) { return width == 0 || width >= least; };
  shows_time_ = has_time_ && has_room(kWidthForTime);
  shows_waiting_ = has_waiting_ && (!has_time_ || has_room(kWidthForWaiting));
  const bool are_counts = StyleOf(measure) == Style::kCount;
  if (!has_room(kWidthForWaiting)) {
    share_width_ = 7;
    time_width_ = 9;
    const int digits = DisplayWidth(FormatCount(MostCalls(input.tree)));
    calls_width_ = std::max(digits, DisplayWidth("calls")) + 2;
  }
  amount_width_ = are_counts ? calls_width_ : time_width_;
  if (are_counts && !has_room(kWidthForWaiting)) {
    const int digits = DisplayWidth(FormatCount(measure.whole));
    amount_width_ = std::max(digits, DisplayWidth("total")) + 2;
  }
  width_ = share_width_ + (has_amounts_ ? 2 * amount_width_ : 0) +
           (shows_time_ + shows_waiting_) * time_width_ + calls_width_ + 2;
}

std::string TreeNumbers::Join(std::string_view share, std::string_view total, std::string_view self,
                              std::string_view time, std::string_view waiting,
                              std::string_view calls) const {
  std::string line = PadLeft(share, share_width_);
  const auto add = [&line](bool is_shown, std::string_view text, int width) {
    if (is_shown) AppendLeft(line, text, width);
  };
  add(has_amounts_, total, amount_width_);
  add(has_amounts_, self, amount_width_);
  add(shows_time_, time, time_width_);
  add(shows_waiting_, waiting, time_width_);
  add(true, calls, calls_width_);
  return line += "  ";
}

const std::string& TreeNumbers::Line(const Values& values) {
  const size_t hash = absl::HashOf(values.share, values.total, values.self, values.time,
                                   values.waiting, values.calls);
  KeptLine& kept = kept_[hash % kept_.size()];
  if (kept.line.empty() || kept.values != values) kept = {values, NewLine(values)};
  return kept.line;
}

std::string TreeNumbers::NewLine(const Values& values) const {
  const auto amount = [this](int64_t value) { return FormatMeasure(input_, value); };
  const auto time = [this](int64_t value) { return value == 0 ? "" : input_.units().Time(value); };
  const std::string share =
      absl::StrFormat("%.1f %%", PercentOf(values.total, input_.measure().whole));
  return Join(values.share ? share : "", values.share ? amount(values.total) : "",
              values.self == 0 ? "" : amount(values.self), time(values.time), time(values.waiting),
              values.calls == 0 ? "" : FormatCount(values.calls));
}

std::string TreeNumbers::Header() const {
  const bool in_ticks =
      input_.measure().kind == Measure::Kind::kTicks && input_.units().interval_ns == 0;
  return StrCat(Join("share", in_ticks ? "ticks" : "total", "self", "time", "waiting", "calls"),
                "call tree", ByMeasure(input_));
}

std::string TreeNumbers::LeftOut() const {
  const bool no_time = has_time_ && !shows_time_;
  const bool no_waiting = has_waiting_ && !shows_waiting_;
  return StrCat(no_time ? "time" : "", no_time && no_waiting ? ", " : "",
                no_waiting ? "waiting" : "");
}

// What a line of the tree says about the nodes that it stands for: "… 12 frames of JVM start-up".
std::string_view TextOf(CodeOwner kind) {
  constexpr std::string_view kTexts[kCodeOwners] = {
      "the program", "libraries", "the JDK", "native code", "the JVM", "the kernel", "others"};
  return kTexts[static_cast<size_t>(kind)];
}

class ChainTeller {
 public:
  ChainTeller(const ReportInput& input, const std::vector<CodeOwner>& kinds, const TreeLine& line)
      : input_(input) {
    for (NodeId at = line.end;; at = input.tree.node(at).parent) {
      Add(input.tree.node(at).routine, kinds);
      if (at == line.id) break;
    }
    std::reverse(kinds_.begin(), kinds_.end());
    begins_at_root_ = !input.tree.node(input.tree.node(line.id).parent).parent;
  }

  std::vector<std::string> Texts(uint64_t count) const {
    const std::string frames = StrCat("… ", Counted(static_cast<int64_t>(count), "frame"));
    std::vector<std::string> texts;
    const auto add = [&](std::string_view what) { texts.push_back(StrCat(frames, " of ", what)); };
    if (begins_at_root_ && !has_program_) {
      add(has_main_ ? "JVM start-up" : "thread start-up");
    } else if (is_one_routine_) {
      const NameParts parts = SplitName(input_.model.RoutineName(routine_));
      if (!parts.owner.empty()) add(StrCat(parts.owner, parts.method));
      add(parts.method);
    } else {
      if (const std::string package = Package(); !package.empty()) add(package);
      add(Kinds());
    }
    texts.push_back(frames);
    return texts;
  }

 private:
  void Add(RoutineId routine, const std::vector<CodeOwner>& kinds) {
    const CodeOwner kind = kinds[routine.value];
    if (std::find(kinds_.begin(), kinds_.end(), kind) == kinds_.end()) kinds_.push_back(kind);
    has_program_ = has_program_ || kind == CodeOwner::kProgram;
    is_java_ = is_java_ && IsJavaCode(kind);
    const std::string_view name = input_.model.RoutineName(routine);
    has_main_ = has_main_ || name == "JavaMain";
    is_one_routine_ = is_one_routine_ && (!routine_ || routine == routine_);
    const std::string_view package = SplitName(name).package;
    // The longest common beginning, of whole packages.
    if (!routine_) common_ = package;
    while (!package.starts_with(common_)) {
      const size_t dot =
          common_.size() < 2 ? std::string_view::npos : common_.rfind('.', common_.size() - 2);
      common_ = common_.substr(0, dot == std::string_view::npos ? 0 : dot + 1);
    }
    routine_ = routine;
  }

  // "org.h2.command" if all are in it; a single word says nothing.
  std::string Package() const {
    const size_t first = common_.find('.');
    if (!is_java_ || first == std::string_view::npos || first + 1 == common_.size()) return "";
    return std::string(common_.substr(0, common_.size() - 1));
  }
  std::string Kinds() const {
    std::string text;
    for (size_t i = 0; i < kinds_.size(); ++i) {
      const std::string_view joint = i == 0 ? "" : i + 1 == kinds_.size() ? " and " : ", ";
      StrAppend(&text, joint, TextOf(kinds_[i]));
    }
    return text;
  }

  const ReportInput& input_;
  std::vector<CodeOwner> kinds_;  // in the order of the chain, each once
  std::string_view common_;
  RoutineId routine_;
  bool is_one_routine_ = true;
  bool is_java_ = true;
  bool has_program_ = false;
  bool has_main_ = false;
  bool begins_at_root_ = false;
};

// The most detailed text first; each is shorter than the one before it. `line` is a chain.
std::vector<std::string> ChainTexts(const ReportInput& input, const std::vector<CodeOwner>& kinds,
                                    const TreeLine& line) {
  return ChainTeller(input, kinds, line).Texts(line.count);
}

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
