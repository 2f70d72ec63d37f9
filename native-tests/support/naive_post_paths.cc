// The naive reports about paths.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <utility>

#include "native-tests/support/naive_post.h"
#include "native-tests/support/naive_tree.h"

namespace jtrace::testing {
namespace {

std::string Percent(int64_t part, int64_t whole) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f",
                whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole));
  return text;
}

using PathCounts =
    std::map<std::vector<std::string>, std::pair<int64_t, int64_t>>;  // inclusive, exclusive

void CountPath(std::vector<std::string> frames, int64_t value, PathCounts& counts) {
  counts[frames].second += value;
  for (; !frames.empty(); frames.pop_back()) counts[frames].first += value;
}

std::string Text(const std::vector<std::string>& path) {
  std::string text;
  for (const std::string& name : path) text += (text.empty() ? "" : " > ") + name;
  return text;
}

std::vector<CsvRow> PathRows(PathCounts counts, int64_t whole) {
  std::vector<CsvRow> rows;
  const std::function<void(const std::vector<std::string>&)> below =
      [&](const std::vector<std::string>& prefix) {
        std::vector<std::vector<std::string>> children;
        for (const auto& [path, count] : counts) {
          if (path.size() == prefix.size() + 1 &&
              std::equal(prefix.begin(), prefix.end(), path.begin())) {
            children.push_back(path);
          }
        }
        std::stable_sort(children.begin(), children.end(), [&](const auto& a, const auto& b) {
          if (counts[a].first != counts[b].first) return counts[a].first > counts[b].first;
          return a.back() < b.back();
        });
        for (const auto& path : children) {
          const auto [inclusive, exclusive] = counts[path];
          rows.push_back({Text(path), Num(inclusive), Percent(inclusive, whole), Num(exclusive),
                          Percent(exclusive, whole)});
          below(path);
        }
      };
  below({});
  return rows;
}

}  // namespace

std::vector<CsvRow> NaivePost::Paths() const {
  PathCounts counts;
  int64_t whole = 0;
  for (const Sample& sample : samples_) {
    whole += sample.weight;
    CountPath(sample.frames.empty() ? std::vector<std::string>{"[no_frames]"} : sample.frames,
              sample.weight, counts);
  }
  return PathRows(std::move(counts), whole);
}

namespace {

// visit(path without the thread, value) of each node that has any.
void WalkPaths(const NaiveNode& root, const std::string& metric,
               const std::function<void(std::vector<std::string>, int64_t)>& visit) {
  Walk(root, 0, [&](const NaiveNode& node, int) {
    if (node.Metric(metric) == 0) return;
    std::vector<std::string> path;
    for (const NaiveNode* at = &node; at->parent != nullptr; at = at->parent) {
      path.insert(path.begin(), at->name);
    }
    if (path.empty()) path.emplace_back("[no_frames]");
    visit(path, node.Metric(metric));
  });
}

}  // namespace

std::vector<CsvRow> NaivePost::MetricPaths(const std::string& metric, const std::string& of) const {
  PathCounts counts;
  int64_t whole = 0;
  for (const auto& [name, thread] : threads_) {
    WalkPaths(*thread.root, metric, [&](std::vector<std::string> path, int64_t value) {
      if (!of.empty()) path.erase(path.begin(), std::find(path.begin(), path.end(), of));
      if (path.empty()) return;
      CountPath(path, value, counts);
      whole += value;
    });
  }
  return PathRows(std::move(counts), whole);
}

std::vector<CsvRow> NaivePost::MetricCallers(const std::string& metric,
                                             const std::string& of) const {
  std::map<std::string, std::pair<int64_t, int64_t>> counts;
  for (const auto& [name, thread] : threads_) {
    WalkPaths(*thread.root, metric, [&](std::vector<std::string> path, int64_t value) {
      const bool exclusive = path.back() == of;
      while (!path.empty() && path.back() != of) path.pop_back();
      if (path.empty()) return;
      counts[Text(path)].first += value;
      if (exclusive) counts[Text(path)].second += value;
    });
  }
  std::vector<std::pair<std::string, std::pair<int64_t, int64_t>>> sorted(counts.begin(),
                                                                          counts.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.first > b.second.first; });
  std::vector<CsvRow> rows;
  for (const auto& [path, count] : sorted) {
    rows.push_back({path, Num(count.first), Num(count.second)});
  }
  return rows;
}

}  // namespace jtrace::testing
