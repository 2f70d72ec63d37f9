// Reads and writes, segments that the program named, and samples by its labels.
#include <algorithm>
#include <string>
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

Table IoTable(const ReportInput& input) {
  using Row = std::pair<IoLog::Name, const IoLog::Total*>;
  std::vector<Row> rows;
  for (const auto& [name, total] : input.io.totals()) rows.emplace_back(name, &total);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.second->time > b.second->time; });
  Table table;
  table.columns = {{"kind"},
                   {"calls", Style::kCount},
                   {"failed", Style::kCount},
                   {"bytes", Style::kBytes},
                   {"time", Style::kTime},
                   {"longest", Style::kTime},
                   {"threads", Style::kCount},
                   {"on"}};
  for (const auto& [name, total] : rows) {
    table.rows.push_back(
        {Cell::Text(name.first), Cell::Int(total->calls), Cell::Int(total->failed),
         Cell::Int(total->bytes), Cell::Int(total->time), Cell::Int(total->longest),
         Cell::Int(static_cast<int64_t>(total->threads.size())), Cell::Text(name.second)});
  }
  return table;
}

}  // namespace

extern const Report kIoReport = {
    .name = "io",
    .group = ReportGroup::kEvents,
    .summary = "files and peers that were read and written (codes=+io)",
    .example = "jtrace-post --report=io --top=20 trace.bin",
    .accepts = kAcceptsOfRecords | kAcceptsFold,
    .instead = {{kAcceptsMetric,
                 "its rows are files and peers; --report=tree has java.read.bytes by call path"}},
    .if_empty = "no reads and writes; codes=+io records them",
    .table = IoTable,
};

// Segments of code that the program named: how often, and how long they took (S3.28).
namespace {

using SegmentRow = std::pair<std::string, SegmentLog::Total>;

Table SegmentsTable(const ReportInput& input) {
  const auto totals = input.segments.Totals();
  std::vector<SegmentRow> rows(totals.begin(), totals.end());
  std::stable_sort(rows.begin(), rows.end(), [](const SegmentRow& a, const SegmentRow& b) {
    return a.second.time > b.second.time;
  });
  Table table;
  table.columns = {{"name"},
                   {"count", Style::kCount},
                   {"total_ns", Style::kNanoseconds},
                   {"min_ns", Style::kNanoseconds},
                   {"max_ns", Style::kNanoseconds},
                   {"open", Style::kCount, true}};
  const auto per_unit = static_cast<uint64_t>(NanosecondsPer(input.model.unit()));
  for (const auto& [name, total] : rows) {
    // Ticks have no length, and what has not ended has no time.
    const auto time = [&, count = total.count](int64_t value) {
      if (per_unit == 0 || count == 0) return Cell::Empty();
      return Cell::Int(static_cast<int64_t>(static_cast<uint64_t>(value) * per_unit));
    };
    table.rows.push_back({Cell::Text(name), Cell::Int(total.count), time(total.time),
                          time(total.min), time(total.max), Cell::Int(total.open)});
  }
  return table;
}

void SegmentsText(const ReportInput& input, std::ostream& out) {
  Table table = SegmentsTable(input);
  SortAsWanted(input, table);
  LimitRows(table, input.options.top);
  table.MoveLast("name");
  for (Column& column : table.columns) {
    if (column.name.ends_with("_ns")) column.name.resize(column.name.size() - 3);
  }
  WriteText(table, input.layout(), out);
}

}  // namespace

extern const Report kSegmentsReport = {
    .name = "segments",
    .group = ReportGroup::kEvents,
    .summary = "segments of code that the program named: how often, how long (JTrace.segment)",
    .example = "jtrace-post --report=segments --top=20 trace.bin",
    .accepts = kAcceptsOfRecords | kAcceptsFold,
    .instead = {{kAcceptsMetric,
                 "it is about segments of code; --report=flat has metrics by routine"}},
    .if_empty = "no segments; the program names them: JTrace.segment of jtrace-api.jar",
    .table = SegmentsTable,
    .text = SegmentsText,
};

// Samples by the labels that the program gave to its threads (JTrace.label).
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
