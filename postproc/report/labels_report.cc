// Samples by the labels that the program gave to its threads (JTrace.label).
#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_set.h"
#include "postproc/report/report.h"
#include "postproc/samples/path_tree.h"
#include "postproc/support/strings.h"
#include "postproc/support/wrap.h"

namespace jtrace::postproc {
namespace {

constexpr std::string_view kNoLabel = "[none]";

struct LabelSum {
  int64_t samples = 0;
  int64_t ticks = 0;
  absl::flat_hash_set<ThreadId> threads;

  void Add(const LoggedSample& sample) {
    ++samples;
    ticks = WrapAdd(ticks, sample.weight);
    threads.insert(sample.thread);
  }
};
using LabelValues = absl::btree_map<std::string_view, LabelSum>;

// By key and value.
absl::btree_map<std::string_view, LabelValues> SumByLabel(const ReportInput& input) {
  absl::btree_map<std::string_view, LabelValues> sums;
  for (uint32_t i = 1; i <= input.model.labels_count(); ++i) {
    for (const auto& [key, value] : input.model.labels(LabelsId(i))) sums.try_emplace(key);
  }
  for (const LoggedSample& sample : input.samples.samples()) {
    for (auto& [key, values] : sums) {
      std::string_view value = kNoLabel;
      if (sample.labels) {
        for (const auto& label : input.model.labels(sample.labels)) {
          if (label.first == key) value = label.second;
        }
      }
      values[value].Add(sample);
    }
  }
  absl::erase_if(sums,
                 [](const auto& it) { return it.second.size() == it.second.count(kNoLabel); });
  return sums;
}

// Most ticks first, what has no such label last.
std::vector<std::pair<std::string_view, const LabelSum*>> SortedValues(const LabelValues& values) {
  std::vector<std::pair<std::string_view, const LabelSum*>> rows;
  for (const auto& [value, sum] : values) rows.emplace_back(value, &sum);
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    if ((a.first == kNoLabel) != (b.first == kNoLabel)) return b.first == kNoLabel;
    return a.second->ticks > b.second->ticks;
  });
  return rows;
}

Table LabelsTable(const ReportInput& input) {
  Table table;
  table.columns = {Column{"key"}.AsPlain(),
                   Column{"value"}.AsPlain(),
                   {"samples", Style::kCount},
                   {"ticks", Style::kCount},
                   {"percent"},
                   {"time", Style::kNanoseconds, true},
                   {"threads", Style::kCount}};
  const int64_t whole = TotalWeight(input.samples);
  const int64_t interval = input.model.interval_ns();
  for (const auto& [key, values] : SumByLabel(input)) {
    for (const auto& [value, sum] : SortedValues(values)) {
      const double percent = PercentOf(sum->ticks, whole);
      if (percent < input.options.filter_percent) continue;
      table.rows.push_back(
          {Cell::Text(key), Cell::Text(value), Cell::Int(sum->samples), Cell::Int(sum->ticks),
           Cell::Percent(percent),
           interval == 0 ? Cell::Empty() : Cell::Int(WrapMultiply(sum->ticks, interval)),
           Cell::Int(static_cast<int64_t>(sum->threads.size()))});
    }
  }
  return table;
}

}  // namespace

extern const Report kLabelsReport = {
    .name = "labels",
    .group = ReportGroup::kSamples,
    .summary = "samples by the labels that the program gave to its threads (JTrace.label)",
    .example = "jtrace-post --report=labels trace.bin",
    .accepts = kAcceptsOfRecords | kAcceptsRoot | kAcceptsFold,
    .instead =
        {{kAcceptsMetric,
          "it is about samples, and metrics have no labels; --report=flat has metrics by routine"}},
    .if_empty = "no samples with labels; the program sets them: JTrace.label of jtrace-api.jar",
    .table = LabelsTable,
};

}  // namespace jtrace::postproc
