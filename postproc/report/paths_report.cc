// Call paths: all, those from a routine, those to a routine (S1.6–S1.8). Of samples, or with
// --metric of the tree's nodes.
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_format.h"
#include "postproc/model/path_step.h"
#include "postproc/report/report.h"
#include "postproc/report/tree_branches.h"
#include "postproc/samples/path_tree.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

RoutinePredicate NamedBy(const TraceModel& model, const std::string& pattern) {
  std::vector<bool> named(model.routine_count() + 1);
  for (uint32_t i = 1; i < named.size(); ++i) {
    named[i] = RoutineMatches(pattern, model.RoutineName(RoutineId(i)));
  }
  // Names interned later, such as [no_frames], are not in the traces.
  return [named = std::move(named)](RoutineId id) {
    return id.value < named.size() && named[id.value];
  };
}

// With `pattern`, the paths begin at the routines that it names.
PathTree PathsFrom(const ReportInput& input, const std::string& pattern) {
  const RoutinePredicate start = pattern.empty() ? nullptr : NamedBy(input.model, pattern);
  if (input.measure().is_chosen) {
    return PathTree(input.model, input.tree, input.measure().base.values(), start);
  }
  return PathTree(input.model, input.samples, input.tree.has_places(), start);
}

// The tree already begins at --root.
PathTree RootedPaths(const ReportInput& input) {
  return PathsFrom(input, input.measure().is_chosen ? "" : input.options.root);
}

int64_t WholeOf(const ReportInput& input) {
  return input.measure().is_chosen ? input.measure().whole : TotalWeight(input.samples);
}

// For inclusive and exclusive; `style` is that of samples.
Style ValueStyle(const ReportInput& input, Style style) {
  return input.measure().is_chosen ? StyleOf(input.measure()) : style;
}

constexpr size_t kFramesShown = 8;  // of a path to the routine, in text

// "A > B > C"
std::vector<std::string_view> SplitPath(std::string_view path) {
  constexpr std::string_view kJoint = " > ";
  std::vector<std::string_view> frames;
  for (size_t end = path.find(kJoint); end != std::string_view::npos; end = path.find(kJoint)) {
    frames.push_back(path.substr(0, end));
    path.remove_prefix(end + kJoint.size());
  }
  frames.push_back(path);
  return frames;
}

std::string Indented(const ReportInput& input, const PathNode& node) {
  const std::string place = node.place == kNoCallSite ? "" : StrCat(PlaceText(node.place), " > ");
  return StrCat(IndentOf(node.level, input.options.width), place,
                input.model.RoutineName(node.routine));
}

// Leading columns of callees and callers.
std::vector<Column> SubsetColumns(const ReportInput& input) {
  const Style style = ValueStyle(input, Style::kCount);
  return {{"path"},
          {"inclusive", style},
          {"pct_of_subset"},
          {"pct_of_total"},
          {"exclusive", style},
          {"exclusive_pct_of_subset"},
          {"exclusive_pct_of_total"}};
}

std::vector<Cell> SubsetRow(const std::string& path, int64_t inclusive, int64_t exclusive,
                            int64_t subset, int64_t total) {
  return {Cell::Text(path),
          Cell::Int(inclusive),
          Cell::Percent(PercentOf(inclusive, subset)),
          Cell::Percent(PercentOf(inclusive, total)),
          Cell::Int(exclusive),
          Cell::Percent(PercentOf(exclusive, subset)),
          Cell::Percent(PercentOf(exclusive, total))};
}

Table PathsTable(const ReportInput& input) {
  const Style style = ValueStyle(input, Style::kCount);
  Table table;
  table.columns = {
      {"path"}, {"inclusive", style}, {"inclusive_pct"}, {"exclusive", style}, {"exclusive_pct"}};
  table.pass_rows = [&input](Table::Visit visit) {
    const PathTree paths = RootedPaths(input);
    for (const uint32_t index : paths.Order(input.model)) {
      const PathNode& node = paths.node(index);
      if (IsFiltered(input, node.inclusive, paths.total())) continue;
      const bool goes_on =
          visit({Cell::Text(paths.Path(input.model, index)), Cell::Int(node.inclusive),
                 Cell::Percent(PercentOf(node.inclusive, paths.total())), Cell::Int(node.exclusive),
                 Cell::Percent(PercentOf(node.exclusive, paths.total()))});
      if (!goes_on) return;
    }
  };
  return table;
}

// Indented names instead of whole paths, after the counts.
void PathsText(const ReportInput& input, std::ostream& out) {
  const Style style = ValueStyle(input, Style::kCount);
  Table table;
  table.columns = {{"inclusive", style},
                   {"inclusive %"},
                   {"exclusive", style},
                   Column{"exclusive %"}.Ranked(1),
                   {StrCat("path", ByMeasure(input))}};
  const PathTree paths = RootedPaths(input);
  for (const uint32_t index : paths.Order(input.model)) {
    const PathNode& node = paths.node(index);
    const double percent = PercentOf(node.inclusive, paths.total());
    if (IsFiltered(input, node.inclusive, paths.total())) continue;
    table.rows.push_back({Cell::Int(node.inclusive), Cell::Percent(percent),
                          Cell::Int(node.exclusive),
                          Cell::Percent(PercentOf(node.exclusive, paths.total())),
                          Cell::Text(Indented(input, node))});
  }
  LimitRows(table, input.options.top);
  WriteText(table, input.layout(), out);
}

// As the paths' text, from the routine on.
void CalleesText(const ReportInput& input, std::ostream& out) {
  const Style style = ValueStyle(input, Style::kTicks);
  Table table;
  table.columns = {{"total", style},
                   {"of its"},
                   {"of all"},
                   {"self", style},
                   {StrCat("path", ByMeasure(input))}};
  const PathTree paths = PathsFrom(input, input.options.of);
  const int64_t total = WholeOf(input);
  for (const uint32_t index : paths.Order(input.model)) {
    const PathNode& node = paths.node(index);
    const double percent = PercentOf(node.inclusive, paths.total());
    if (IsFiltered(input, node.inclusive, paths.total())) continue;
    table.rows.push_back({Cell::Int(node.inclusive), Cell::Percent(percent),
                          Cell::Percent(PercentOf(node.inclusive, total)),
                          Cell::Int(node.exclusive), Cell::Text(Indented(input, node))});
  }
  LimitRows(table, input.options.top);
  WriteText(table, input.layout(), out);
}

Table CalleesTable(const ReportInput& input) {
  Table table;
  table.columns = SubsetColumns(input);
  const PathTree paths = PathsFrom(input, input.options.of);
  const int64_t total = WholeOf(input);
  for (const uint32_t index : paths.Order(input.model)) {
    const PathNode& node = paths.node(index);
    if (IsFiltered(input, node.inclusive, paths.total())) continue;
    table.rows.push_back(SubsetRow(paths.Path(input.model, index), node.inclusive, node.exclusive,
                                   paths.total(), total));
  }
  return table;
}

struct CallerPath {
  int64_t inclusive = 0;
  int64_t exclusive = 0;
};

// "A > B"; with places "A:120 > B". Steps are innermost first.
class PathText {
 public:
  explicit PathText(const TraceModel& model) : model_(model) {}

  // `place`: from which the step's caller calls it.
  void Add(RoutineId routine, CallSite place) {
    steps_.push_back(StrCat(model_.RoutineName(routine), below_));
    below_ = PlaceText(place);
  }
  std::string Join() const {
    std::string path;
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
      StrAppend(&path, step == steps_.rbegin() ? "" : " > ", *step);
    }
    return path;
  }

 private:
  const TraceModel& model_;
  std::vector<std::string> steps_;
  std::string below_;
};

std::string PathOf(const ReportInput& input, StackId stack) {
  const StackTable& stacks = input.samples.stacks();
  const bool with_places = input.tree.has_places();
  PathText path(input.model);
  for (StackId at = stack; at; at = stacks.Caller(at)) {
    path.Add(input.model.frame(stacks.Innermost(at)).routine,
             with_places ? stacks.Place(at) : kNoCallSite);
  }
  return path.Join();
}

// Counts by the path down to each sample's innermost --of.
StringMap<CallerPath> CallersInSamples(const ReportInput& input) {
  const RoutinePredicate is_of = NamedBy(input.model, input.options.of);
  const StackTable& stacks = input.samples.stacks();
  std::vector<StackId> innermost_of(stacks.size() + 1);
  for (uint32_t i = 1; i <= stacks.size(); ++i) {
    const bool is_it = is_of(input.model.frame(stacks.Innermost(StackId(i))).routine);
    innermost_of[i] = is_it ? StackId(i) : innermost_of[stacks.Caller(StackId(i)).value];
  }
  std::vector<CallerPath> by_stack(stacks.size() + 1);
  std::vector<bool> sampled(stacks.size() + 1);
  for (const LoggedSample& sample : input.samples.samples()) {
    const StackId stack = innermost_of[sample.stack.value];
    if (!stack) continue;
    sampled[stack.value] = true;
    CallerPath& path = by_stack[stack.value];
    path.inclusive = WrapAdd(path.inclusive, sample.weight);
    if (stack == sample.stack) path.exclusive = WrapAdd(path.exclusive, sample.weight);
  }
  StringMap<CallerPath> by_path;
  for (uint32_t i = 1; i < by_stack.size(); ++i) {
    if (!sampled[i]) continue;
    CallerPath& path = by_path[PathOf(input, StackId(i))];
    path.inclusive = WrapAdd(path.inclusive, by_stack[i].inclusive);
    path.exclusive = WrapAdd(path.exclusive, by_stack[i].exclusive);
  }
  return by_path;
}

std::string PathOf(const ReportInput& input, NodeId id) {
  PathText path(input.model);
  for (NodeId at = id; input.tree.node(at).parent; at = input.tree.node(at).parent) {
    path.Add(input.tree.node(at).routine, input.tree.node(at).place);
  }
  return path.Join();
}

// The measure by the path down to each node's innermost --of.
StringMap<CallerPath> CallersInTree(const ReportInput& input) {
  const RoutinePredicate is_of = NamedBy(input.model, input.options.of);
  const std::vector<int64_t>& base = input.measure().base.values();
  std::vector<NodeId> innermost_of(base.size() + 1);
  std::vector<CallerPath> by_node(base.size() + 1);
  std::vector<bool> valued(base.size() + 1);
  for (uint32_t i = 1; i <= base.size(); ++i) {
    const CallNode& node = input.tree.node(NodeId(i));
    if (!node.parent) continue;
    const NodeId of = is_of(node.routine) ? NodeId(i) : innermost_of[node.parent.value];
    innermost_of[i] = of;
    if (!of || base[i - 1] == 0) continue;
    valued[of.value] = true;
    CallerPath& path = by_node[of.value];
    path.inclusive = WrapAdd(path.inclusive, base[i - 1]);
    if (of == NodeId(i)) path.exclusive = WrapAdd(path.exclusive, base[i - 1]);
  }
  StringMap<CallerPath> by_path;
  for (uint32_t i = 1; i < by_node.size(); ++i) {
    if (!valued[i]) continue;
    CallerPath& path = by_path[PathOf(input, NodeId(i))];
    path.inclusive = WrapAdd(path.inclusive, by_node[i].inclusive);
    path.exclusive = WrapAdd(path.exclusive, by_node[i].exclusive);
  }
  return by_path;
}

Table CallersTable(const ReportInput& input) {
  const auto by_path = input.measure().is_chosen ? CallersInTree(input) : CallersInSamples(input);
  std::vector<std::pair<std::string, CallerPath>> sorted(by_path.begin(), by_path.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.second.inclusive != b.second.inclusive ? a.second.inclusive > b.second.inclusive
                                                    : a.first < b.first;
  });
  int64_t subset = 0;
  for (const auto& [path, counts] : sorted) subset = WrapAdd(subset, counts.inclusive);
  const int64_t total = WholeOf(input);
  Table table;
  table.columns = SubsetColumns(input);
  for (const auto& [path, counts] : sorted) {
    if (IsFiltered(input, counts.inclusive, subset)) continue;
    table.rows.push_back(SubsetRow(path, counts.inclusive, counts.exclusive, subset, total));
  }
  return table;
}

// The table for people: a line of numbers and its path as a stack, innermost frame first, because
// paths differ in what called the routine last.
void CallersText(const ReportInput& input, std::ostream& out) {
  Table table = CallersTable(input);
  SortAsWanted(input, table);
  LimitRows(table, input.options.top);
  const Style style = ValueStyle(input, Style::kTicks);
  const int room = input.options.width > 0 ? std::max(input.options.width - 12, 16) : 0;
  out << "      total  of calls to it   of all" << ByMeasure(input) << '\n';
  for (const auto& row : table.rows) {
    out << PadLeft(FormatInteger(row[1].integer(), style, input.units()), 11)
        << PadLeft(FormatPercent(row[2].percent()), 17)
        << PadLeft(FormatPercent(row[3].percent()), 9) << '\n';
    std::vector<std::string_view> frames = SplitPath(row[0].text());
    std::reverse(frames.begin(), frames.end());
    for (size_t i = 0; i < frames.size() && i < kFramesShown; ++i) {
      out << (i == 0 ? "          " : "        ← ") << ShortenName(frames[i], room) << '\n';
    }
    if (frames.size() > kFramesShown) {
      out << "          … " << frames.size() - kFramesShown << " more\n";
    }
  }
}

}  // namespace

extern const Report kPathsReport = {
    .name = "paths",
    .group = ReportGroup::kSamples,
    .summary = "sampled call paths, inclusive and exclusive",
    .example = "jtrace-post --report=paths --scope=app trace.bin",
    .accepts =
        kAcceptsOfRecords | kAcceptsMetric | kAcceptsRoot | kAcceptsFoldOfMetric | kAcceptsSites,
    .if_empty = kNoSamplesRecorded,
    .table = PathsTable,
    .text = PathsText,
};

extern const Report kCalleesReport = {
    .name = "callees",
    .group = ReportGroup::kSamples,
    .summary = "callees of the routine named by --of, over all its callers",
    .example = "jtrace-post --report=callees --of=org.h2.table.Table.lock trace.bin",
    .needs = kNeedsOf,
    .accepts = kAcceptsOfRecords | kAcceptsMetric | kAcceptsFoldOfMetric | kAcceptsSites,
    .if_empty = "no samples of it; --metric=calls has the paths of counted calls",
    .table = CalleesTable,
    .text = CalleesText,
};

extern const Report kCallersReport = {
    .name = "callers",
    .group = ReportGroup::kSamples,
    .summary = "callers of the routine named by --of, over all its callees",
    .example = "jtrace-post --report=callers --of=malloc trace.bin",
    .needs = kNeedsOf,
    .accepts = kAcceptsOfRecords | kAcceptsMetric | kAcceptsFoldOfMetric | kAcceptsSites,
    .if_empty = "no samples of it; --metric=calls has the paths of counted calls",
    .table = CallersTable,
    .text = CallersText,
};

}  // namespace jtrace::postproc
