#include "postproc/cli/metrics_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <span>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/thousands.h"
#include "common/utf8.h"
#include "common/visible_text.h"

namespace jtrace::control {
namespace {

constexpr size_t kLeastColumns = 60;
constexpr size_t kLongestName = 28;
constexpr size_t kValueColumns = 10;

// Three digits and a unit that keeps them before or just behind the point.
std::string Scaled(int64_t value, std::string_view unit) {
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

std::string RightAligned(std::string_view text, size_t columns) {
  const size_t used = ColumnsOf(text);
  return used >= columns ? std::string(text) : std::string(columns - used, ' ') + std::string(text);
}

void AddLine(std::string& out, std::string line, size_t columns) {
  if (ColumnsOf(line) > columns) line = FitColumns(line, columns);
  line.erase(line.find_last_not_of(' ') + 1);
  absl::StrAppend(&out, line, "\n");
}

std::string ThreadName(const MetricsAnswer::Thread& thread) {
  std::string name = VisibleText(thread.name);
  if (!name.empty()) return name;
  return absl::StrCat(thread.os_tid == 0 ? "virtual " : "thread ", thread.java_tid);
}

struct Row {
  std::string name;
  std::vector<std::optional<int64_t>> values;
};

// The listed threads, then one row for the others and one for those that ended.
std::vector<Row> ThreadRows(const MetricsAnswer& answer) {
  std::vector<Row> rows;
  for (const MetricsAnswer::Thread& thread : answer.threads) {
    rows.push_back({ThreadName(thread), thread.values});
  }
  if (answer.more_threads != 0) {
    rows.push_back({absl::StrCat("(", answer.more_threads, " more)"), answer.more});
  }
  if (answer.ended_threads != 0) {
    Row ended = {absl::StrCat("(", answer.ended_threads, " ended)"), {}};
    for (const MetricsAnswer::Metric& metric : answer.metrics) ended.values.push_back(metric.ended);
    rows.push_back(std::move(ended));
  }
  return rows;
}

// The metrics in [first, last) by thread.
void AddThreadTable(const MetricsAnswer& answer, const std::vector<Row>& rows,
                    std::span<const size_t> shown, size_t name_columns, size_t columns,
                    std::string& out) {
  std::string head = FitColumns("thread", name_columns);
  for (const size_t i : shown) {
    const std::string& name = answer.metrics[i].name;
    absl::StrAppend(&head, "  ", RightAligned(name, kValueColumns));
  }
  out += '\n';
  AddLine(out, std::move(head), columns);
  for (const Row& row : rows) {
    std::string line = FitColumns(row.name, name_columns);
    for (const size_t i : shown) {
      const std::optional<int64_t>& value = row.values[i];
      const size_t room = std::max(kValueColumns, ColumnsOf(answer.metrics[i].name));
      absl::StrAppend(&line, "  ",
                      RightAligned(value ? Scaled(*value, answer.metrics[i].unit) : "", room));
    }
    AddLine(out, std::move(line), columns);
  }
}

void AddThreads(const MetricsAnswer& answer, size_t columns, std::string& out) {
  const std::vector<Row> rows = ThreadRows(answer);
  size_t name_columns = 6;
  for (const Row& row : rows) {
    name_columns = std::max(name_columns, std::min(kLongestName, ColumnsOf(row.name)));
  }
  std::vector<size_t> shown;
  size_t used = name_columns;
  const auto flush = [&] {
    if (!shown.empty()) AddThreadTable(answer, rows, shown, name_columns, columns, out);
    shown.clear();
    used = name_columns;
  };
  for (size_t i = 0; i < answer.metrics.size(); ++i) {
    if (!answer.metrics[i].by_thread) continue;
    const size_t wanted = 2 + std::max(kValueColumns, ColumnsOf(answer.metrics[i].name));
    if (used + wanted > columns) flush();
    used += wanted;
    shown.push_back(i);
  }
  flush();
}

}  // namespace

std::string MetricsAsText(MetricsAnswer answer, size_t columns) {
  for (MetricsAnswer::Metric& metric : answer.metrics) metric.name = VisibleText(metric.name);
  columns = std::max(columns, kLeastColumns);
  size_t name_columns = 6;
  size_t value_columns = 5;
  for (const MetricsAnswer::Metric& metric : answer.metrics) {
    name_columns = std::max(name_columns, std::min(kLongestName, ColumnsOf(metric.name)));
    value_columns = std::max(value_columns, WithThousands(metric.process).size());
  }
  std::string out;
  AddLine(
      out,
      absl::StrCat("process ", answer.pid, ": ", answer.threads.size() + answer.more_threads,
                   answer.threads.size() + answer.more_threads == 1 ? " thread, " : " threads, ",
                   answer.ended_threads, answer.ended_threads == 1 ? " has" : " have", " ended"),
      columns);
  out += '\n';
  AddLine(out,
          absl::StrCat(FitColumns("metric", name_columns), "  ",
                       RightAligned("total", value_columns), "  unit  what"),
          columns);
  for (const MetricsAnswer::Metric& metric : answer.metrics) {
    AddLine(out,
            absl::StrCat(FitColumns(metric.name, name_columns), "  ",
                         RightAligned(WithThousands(metric.process), value_columns), "  ",
                         FitColumns(VisibleText(metric.unit), 4), "  ", VisibleText(metric.what)),
            columns);
  }
  AddThreads(answer, columns, out);
  return out;
}

}  // namespace jtrace::control
