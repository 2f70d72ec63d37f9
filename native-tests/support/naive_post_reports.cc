#include <algorithm>
#include <functional>
#include <map>

#include "native-tests/support/naive_post.h"
#include "native-tests/support/naive_tree.h"

namespace jtrace::testing {
namespace {

// Recursion: a root is never the same routine as a method.
using Routine = std::pair<bool, std::string>;  // is a root; name
Routine RoutineOf(const NaiveNode& node) { return {node.parent == nullptr, node.name}; }

int64_t Least(const std::vector<int64_t>& values) {
  return values.empty() ? 0 : *std::min_element(values.begin(), values.end());
}
int64_t Greatest(const std::vector<int64_t>& values) {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

}  // namespace

int64_t NaiveNode::Cum() const {
  int64_t sum = base;
  for (const auto& child : children) sum += child->Cum();
  return sum;
}
int64_t NaiveNode::Elapsed() const {
  int64_t sum = base + off;
  for (const auto& child : children) sum += child->Elapsed();
  return sum;
}
int64_t NaiveNode::CumTicks() const {
  int64_t sum = ticks;
  for (const auto& child : children) sum += child->CumTicks();
  return sum;
}
int64_t NaiveNode::Metric(const std::string& metric) const {
  const auto found = metrics.find(metric);
  return found == metrics.end() ? 0 : found->second;
}
int64_t NaiveNode::CumMetric(const std::string& metric) const {
  int64_t sum = Metric(metric);
  for (const auto& child : children) sum += child->CumMetric(metric);
  return sum;
}
int NaiveNode::RecursionLevel() const {
  int level = 1;
  for (const NaiveNode* at = parent; at != nullptr; at = at->parent) {
    level += RoutineOf(*at) == RoutineOf(*this);
  }
  return level;
}
std::string NaiveNode::Origin() const {
  return parent == nullptr ? "thread" : event ? "event" : "sample";
}

namespace {

CsvRow With(CsvRow row, const std::string& metric, const CsvRow& more) {
  if (!metric.empty()) row.insert(row.end(), more.begin(), more.end());
  return row;
}

}  // namespace

std::vector<CsvRow> NaivePost::Tree(const std::string& metric) const {
  std::vector<CsvRow> rows;
  for (const std::string& name : thread_order_) {
    const auto add = [&](const NaiveNode& node, int level) {
      rows.push_back(
          With({name, Num(level), Num(node.RecursionLevel()), Num(node.calls), Num(node.base),
                Num(node.Cum()), Num(node.Elapsed()), Num(node.ticks), Num(node.CumTicks()),
                Num(node.samples), node.Origin(), node.name, Num(node.jitted),
                Num(Least(node.extremes)), Num(Greatest(node.extremes))},
               metric, {Num(node.Metric(metric)), Num(node.CumMetric(metric))}));
    };
    Walk(*threads_.at(name).root, 0, add, metric);
  }
  return rows;
}

namespace {

struct Sums {
  int64_t calls = 0, jitted = 0, base = 0, cum = 0, cum2 = 0, elapsed = 0;
  int64_t ticks = 0, cum_ticks = 0, cum2_ticks = 0, samples = 0;
  int64_t metric = 0, metric_cum = 0, metric_cum2 = 0;
  std::vector<int64_t> extremes;
};

// The metric's cum (0 if there is none), cum, cum_ticks and calls descending, then name.
template <typename Key>
std::vector<std::pair<Key, Sums>> Sorted(const std::map<Key, Sums>& sums,
                                         const std::function<std::string(const Key&)>& name) {
  std::vector<std::pair<Key, Sums>> sorted(sums.begin(), sums.end());
  std::stable_sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) {
    if (a.second.metric_cum != b.second.metric_cum) {
      return a.second.metric_cum > b.second.metric_cum;
    }
    if (a.second.cum != b.second.cum) return a.second.cum > b.second.cum;
    if (a.second.cum_ticks != b.second.cum_ticks) return a.second.cum_ticks > b.second.cum_ticks;
    if (a.second.calls != b.second.calls) return a.second.calls > b.second.calls;
    return name(a.first) < name(b.first);
  });
  return sorted;
}

}  // namespace

namespace {

using RoutineSums = std::map<Routine, Sums>;

void AddFlat(const NaiveNode& root, const std::string& metric, RoutineSums& sums) {
  Walk(root, 0, [&](const NaiveNode& node, int) {
    Sums& row = sums[RoutineOf(node)];
    row.calls += node.calls;
    row.jitted += node.jitted;
    row.base += node.base;
    row.cum2 += node.Cum();
    row.ticks += node.ticks;
    row.cum2_ticks += node.CumTicks();
    row.samples += node.samples;
    row.metric += node.Metric(metric);
    row.metric_cum2 += node.CumMetric(metric);
    row.extremes.insert(row.extremes.end(), node.extremes.begin(), node.extremes.end());
    if (node.RecursionLevel() > 1) return;
    row.cum += node.Cum();
    row.elapsed += node.Elapsed();
    row.cum_ticks += node.CumTicks();
    row.metric_cum += node.CumMetric(metric);
  });
}

std::string NameOf(const Routine& routine) { return routine.second; }

}  // namespace

std::vector<CsvRow> NaivePost::Flat(const std::string& metric) const {
  RoutineSums sums;
  for (const auto& [name, thread] : threads_) AddFlat(*thread.root, metric, sums);
  std::vector<CsvRow> rows;
  for (const auto& [routine, row] : Sorted<Routine>(sums, NameOf)) {
    rows.push_back(With(
        {Num(row.calls), Num(row.base), Num(row.cum), Num(row.cum2), Num(row.elapsed),
         Num(row.ticks), Num(row.cum_ticks), Num(row.cum2_ticks), Num(row.samples), routine.second,
         Num(row.jitted), Num(Least(row.extremes)), Num(Greatest(row.extremes))},
        metric, {Num(row.metric), Num(row.metric_cum), Num(row.metric_cum2)}));
  }
  return rows;
}

std::vector<CsvRow> NaivePost::ArcFlow(const std::string& metric) const {
  RoutineSums flat;
  for (const auto& [name, thread] : threads_) AddFlat(*thread.root, metric, flat);
  std::vector<CsvRow> rows;
  for (const auto& [self, total] : Sorted<Routine>(flat, NameOf)) {
    std::map<std::string, std::map<Routine, Sums>> arcs;  // by row kind
    const auto add = [&](Sums& sums, const NaiveNode& node) {
      sums.calls += node.calls;
      sums.base += node.base;
      sums.cum += node.Cum();
      sums.ticks += node.ticks;
      sums.cum_ticks += node.CumTicks();
      sums.metric += node.Metric(metric);
      sums.metric_cum += node.CumMetric(metric);
    };
    for (const auto& [name, thread] : threads_) {
      Walk(*thread.root, 0, [&](const NaiveNode& node, int) {
        if (RoutineOf(node) != self) return;
        const bool recursive = node.RecursionLevel() > 1;
        if (node.parent != nullptr) {
          add(arcs[recursive ? "rparent" : "parent"][RoutineOf(*node.parent)], node);
        }
        for (const auto& child : node.children) {
          add(arcs[recursive ? "rchild" : "child"][RoutineOf(*child)], *child);
        }
      });
    }
    for (const std::string kind : {"parent", "rparent", "self", "child", "rchild"}) {
      if (kind == "self") {
        rows.push_back(With(
            {self.second, kind, Num(total.calls), Num(total.base), Num(total.cum), Num(total.cum2),
             Num(total.ticks), Num(total.cum_ticks), Num(total.cum2_ticks), self.second},
            metric, {Num(total.metric), Num(total.metric_cum), Num(total.metric_cum2)}));
        continue;
      }
      for (const auto& [other, sums] : Sorted<Routine>(arcs[kind], NameOf)) {
        rows.push_back(With({self.second, kind, Num(sums.calls), Num(sums.base), Num(sums.cum), "",
                             Num(sums.ticks), Num(sums.cum_ticks), "", other.second},
                            metric, {Num(sums.metric), Num(sums.metric_cum), ""}));
      }
    }
  }
  return rows;
}

int64_t NaivePost::Total(const std::string& metric) const {
  int64_t total = 0;
  for (const auto& [name, thread] : threads_) total += thread.root->CumMetric(metric);
  return total;
}

namespace {

struct NaiveHookRow {
  int64_t calls = 0;
  CsvRow cells;
};

// Ties keep their order.
template <typename Row>
void SortByCalls(std::vector<Row>& rows) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.calls > b.calls; });
}

}  // namespace

std::vector<CsvRow> NaivePost::Hooks() const {
  struct Group {
    int64_t calls = 0;
    std::vector<NaiveHookRow> rows;
  };
  std::vector<Group> groups;
  for (const auto& [hook, callers] : hooks_) {
    Group group;
    for (const auto& [caller, records] : callers) {
      int64_t calls = 0, timed = 0, total = 0, min = 0, max = 0;
      for (std::map<std::string, int64_t> counts : records) {
        calls += counts["calls"];
        if (counts["timed"] == 0) continue;
        min = timed == 0 ? counts["min"] : std::min(min, counts["min"]);
        max = timed == 0 ? counts["max"] : std::max(max, counts["max"]);
        timed += counts["timed"];
        total += counts["total"];
      }
      const char* kinds[] = {"count", "unwind", "time"};
      group.rows.push_back({calls,
                            {hook.first, kinds[hook.second], caller[0], caller[1], caller[2],
                             Num(calls), Num(timed), Num(total), Num(min), Num(max)}});
      group.calls += calls;
    }
    SortByCalls(group.rows);
    groups.push_back(std::move(group));
  }
  SortByCalls(groups);
  std::vector<CsvRow> rows;
  for (const Group& group : groups) {
    for (const NaiveHookRow& row : group.rows) rows.push_back(row.cells);
  }
  return rows;
}

}  // namespace jtrace::testing
