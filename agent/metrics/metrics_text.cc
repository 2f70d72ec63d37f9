#include "agent/metrics/metrics_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "agent/metrics/name_text.h"

namespace jtrace::metrics {
namespace {

constexpr size_t kLeastColumns = 60;
constexpr size_t kLongestName = 28;
constexpr size_t kThreadsShown = 40;
constexpr size_t kValueColumns = 10;

std::string WithSeparators(int64_t value) {
  std::string digits = absl::StrCat(value);
  const size_t first = value < 0 ? 1 : 0;
  for (size_t i = digits.size(); i > first + 3;) digits.insert(i -= 3, 1, ',');
  return digits;
}

// Three digits and a unit that keeps them before or just behind the point.
std::string Scaled(int64_t value, absl::string_view unit) {
  constexpr std::array<absl::string_view, 4> kTimes = {"ns", "us", "ms", "s"};
  constexpr std::array<absl::string_view, 6> kPowers = {"", "k", "M", "G", "T", "P"};
  const bool is_time = unit == "ns";
  const size_t steps = is_time ? kTimes.size() : kPowers.size();
  auto scaled = static_cast<double>(value);
  size_t step = 0;
  for (; std::fabs(scaled) >= 999.5 && step + 1 < steps; ++step) scaled /= 1000;
  const std::string scale =
      is_time ? std::string(kTimes[step]) : absl::StrCat(kPowers[step], unit == "B" ? "B" : "");
  const std::string number = step == 0 ? absl::StrCat(value)
                                       : absl::StrFormat("%.*f",
                                                         std::fabs(scaled) < 9.995   ? 2
                                                         : std::fabs(scaled) < 99.95 ? 1
                                                                                     : 0,
                                                         scaled);
  return scale.empty() ? number : absl::StrCat(number, " ", scale);
}

std::string RightAligned(absl::string_view text, size_t columns) {
  const size_t used = ColumnsOf(text);
  return used >= columns ? std::string(text) : std::string(columns - used, ' ') + std::string(text);
}

void AddLine(std::string& out, std::string line, size_t columns) {
  if (ColumnsOf(line) > columns) line = Column(line, columns);
  line.erase(line.find_last_not_of(' ') + 1);
  absl::StrAppend(&out, line, "\n");
}

std::string ThreadName(const ReportedThread& thread) {
  const std::string name = Printable(thread.name);
  if (!name.empty()) return name;
  return absl::StrCat(thread.os_tid == 0 ? "virtual " : "thread ", thread.java_tid);
}

struct Row {
  std::string name;
  std::vector<std::optional<int64_t>> values;
};

void Add(Row& row, const std::vector<std::optional<int64_t>>& values) {
  row.values.resize(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i]) row.values[i] = row.values[i].value_or(0) + *values[i];
  }
}

// The threads that have room, then one row for the others and one for those that ended.
std::vector<Row> ThreadRows(const MetricsReport& report) {
  std::vector<Row> rows;
  Row rest;
  for (size_t i = 0; i < report.threads.size(); ++i) {
    const ReportedThread& thread = report.threads[i];
    if (i < kThreadsShown) {
      rows.push_back({ThreadName(thread), thread.values});
    } else {
      Add(rest, thread.values);
    }
  }
  if (report.threads.size() > kThreadsShown) {
    rest.name = absl::StrCat("(", report.threads.size() - kThreadsShown, " more)");
    rows.push_back(std::move(rest));
  }
  if (report.ended_threads != 0) {
    Row ended = {absl::StrCat("(", report.ended_threads, " ended)"), {}};
    for (const ReportedMetric& metric : report.metrics) ended.values.push_back(metric.ended);
    rows.push_back(std::move(ended));
  }
  return rows;
}

// The metrics in [first, last) by thread.
void AddThreadTable(const MetricsReport& report, const std::vector<Row>& rows,
                    std::span<const size_t> shown, size_t name_columns, size_t columns,
                    std::string& out) {
  std::string head = Column("thread", name_columns);
  for (const size_t i : shown) {
    const std::string& name = report.metrics[i].name;
    absl::StrAppend(&head, "  ", RightAligned(name, kValueColumns));
  }
  out += '\n';
  AddLine(out, std::move(head), columns);
  for (const Row& row : rows) {
    std::string line = Column(row.name, name_columns);
    for (const size_t i : shown) {
      const std::optional<int64_t>& value = row.values[i];
      const size_t room = std::max(kValueColumns, ColumnsOf(report.metrics[i].name));
      absl::StrAppend(&line, "  ",
                      RightAligned(value ? Scaled(*value, report.metrics[i].unit) : "", room));
    }
    AddLine(out, std::move(line), columns);
  }
}

void AddThreads(const MetricsReport& report, size_t columns, std::string& out) {
  const std::vector<Row> rows = ThreadRows(report);
  size_t name_columns = 6;
  for (const Row& row : rows) {
    name_columns = std::max(name_columns, std::min(kLongestName, ColumnsOf(row.name)));
  }
  std::vector<size_t> shown;
  size_t used = name_columns;
  const auto flush = [&] {
    if (!shown.empty()) AddThreadTable(report, rows, shown, name_columns, columns, out);
    shown.clear();
    used = name_columns;
  };
  for (size_t i = 0; i < report.metrics.size(); ++i) {
    if (!report.metrics[i].by_thread) continue;
    const size_t wanted = 2 + std::max(kValueColumns, ColumnsOf(report.metrics[i].name));
    if (used + wanted > columns) flush();
    used += wanted;
    shown.push_back(i);
  }
  flush();
}

}  // namespace

std::string MetricsAsText(const MetricsReport& report, size_t columns) {
  columns = std::max(columns, kLeastColumns);
  size_t name_columns = 6;
  size_t value_columns = 5;
  for (const ReportedMetric& metric : report.metrics) {
    name_columns = std::max(name_columns, std::min(kLongestName, ColumnsOf(metric.name)));
    value_columns = std::max(value_columns, WithSeparators(metric.process).size());
  }
  std::string out;
  AddLine(out,
          absl::StrCat("process ", report.pid, ": ", report.threads.size(), " threads, ",
                       report.ended_threads, " have ended"),
          columns);
  out += '\n';
  AddLine(out,
          absl::StrCat(Column("metric", name_columns), "  ", RightAligned("total", value_columns),
                       "  unit  what"),
          columns);
  for (const ReportedMetric& metric : report.metrics) {
    AddLine(out,
            absl::StrCat(Column(metric.name, name_columns), "  ",
                         RightAligned(WithSeparators(metric.process), value_columns), "  ",
                         Column(Printable(Utf8Of(metric.unit)), 4), "  ", metric.what),
            columns);
  }
  AddThreads(report, columns, out);
  return out;
}

absl::StatusOr<MetricsFormat> ParseMetricsFormat(absl::string_view options) {
  MetricsFormat format;
  for (absl::string_view option : absl::StrSplit(options, ' ', absl::SkipWhitespace())) {
    absl::string_view value = option;
    const bool is_format = absl::ConsumePrefix(&value, "--format=");
    if (is_format && value == "text") {
      format.kind = MetricsFormat::kText;
    } else if (is_format && value == "json") {
      format.kind = MetricsFormat::kJson;
    } else if (is_format && value == "prometheus") {
      format.kind = MetricsFormat::kPrometheus;
    } else if (is_format) {
      return absl::InvalidArgumentError(
          absl::StrCat("no format '", value, "': text, json or prometheus"));
    } else if (!absl::ConsumePrefix(&value, "--columns=") ||
               !absl::SimpleAtoi(value, &format.columns)) {
      return absl::InvalidArgumentError(
          absl::StrCat("metrics does not know '", option, "'; it takes --format="));
    }
  }
  return format;
}

std::string Format(const MetricsReport& report, const MetricsFormat& format) {
  switch (format.kind) {
    case MetricsFormat::kJson:
      return MetricsAsJson(report);
    case MetricsFormat::kPrometheus:
      return MetricsAsPrometheus(report);
    case MetricsFormat::kText:
      break;
  }
  return MetricsAsText(report, format.columns);
}

}  // namespace jtrace::metrics
