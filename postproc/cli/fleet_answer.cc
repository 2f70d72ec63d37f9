#include "postproc/cli/fleet_answer.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "postproc/cli/answer_rows.h"
#include "postproc/report/shorten.h"
#include "postproc/report/table.h"
#include "postproc/report/units.h"
#include "postproc/support/strings.h"

namespace jtrace::control {
namespace {

using postproc::Cell;
using postproc::StrCat;
using postproc::Style;
using postproc::Table;
using postproc::duckdb::Answer;
using postproc::duckdb::Value;

// A column of the text: that of the query, or "caller > callee".
struct Shown {
  std::string_view column;
  std::string_view heading;
  Style style = Style::kPlain;
  bool optional = false;
};

constexpr Shown kSelf = {"sampled_ns", "self", Style::kNanoseconds, true};
constexpr Shown kTotal = {"sampled_total_ns", "total", Style::kNanoseconds, true};
constexpr Shown kTime = {"self_ns", "time", Style::kNanoseconds, true};
constexpr Shown kTotalTime = {"total_ns", "total time", Style::kNanoseconds, true};
constexpr Shown kCalls = {"calls", "calls", Style::kCount, true};
constexpr Shown kRuns = {"runs", "runs", Style::kCount};
constexpr Shown kHosts = {"hosts", "hosts", Style::kCount};
constexpr Shown kRoutine = {"routine", "routine"};
constexpr Shown kArc = {"", "caller > callee"};

std::vector<Shown> ShownColumns(std::string_view query) {
  if (query == "top") {
    return {kSelf, kTotal, kTime, kTotalTime, kCalls, kRuns, kHosts, kRoutine};
  }
  if (query == "arcs") return {kSelf, kTotal, kTime, kTotalTime, kCalls, kRuns, kArc};
  if (query == "callers") {
    return {kCalls, kTotal, kRuns, kHosts, {"service", "service"}, kArc};
  }
  if (query == "dead") return {{"services", "services", Style::kCount}, kRoutine};
  if (query == "flat") return {kCalls, kRoutine};
  if (query == "percentiles") {
    return {{"p50", "median a call", Style::kNanoseconds},
            {"p90", "90 %", Style::kNanoseconds},
            {"p99", "99 %", Style::kNanoseconds},
            {"greatest", "most", Style::kNanoseconds},
            kHosts,
            kRoutine};
  }
  if (query == "hosts") {
    return {{"ns_a_call", "a call", Style::kNanoseconds},
            {"median_ns", "median", Style::kNanoseconds},
            {"excess_ns", "more in all", Style::kNanoseconds},
            kCalls,
            {"host", "host"},
            kRoutine};
  }
  return {{"verdict", "self time"},
          {"ns_before", "before", Style::kNanoseconds},
          {"ns_after", "after", Style::kNanoseconds},
          {"least_ns", "change from", Style::kNanoseconds},
          {"greatest_ns", "to", Style::kNanoseconds},
          {"calls_a_run_before", "calls a run before", Style::kCount, true},
          {"calls_a_run_after", "after", Style::kCount, true},
          {"runs_before", "runs before", Style::kCount},
          {"runs_after", "after", Style::kCount},
          kRoutine};
}

Cell CellOf(const AnswerRows& rows, size_t row, const Shown& shown) {
  if (shown.column.empty()) {
    return Cell::Text(StrCat(rows.Text(row, "caller"), " > ", rows.Text(row, "callee")));
  }
  const Value& value = rows.at(row, shown.column);
  if (std::holds_alternative<std::monostate>(value)) return Cell::Empty();
  if (std::holds_alternative<std::string>(value)) return Cell::Text(std::get<std::string>(value));
  return Cell::Int(rows.Number(row, shown.column));
}

// The merged tree: children below their parents, those with the most first, as the answer has them.
class TreeText {
 public:
  TreeText(const Answer& answer, int width, std::ostream& out)
      : rows_(answer), width_(width), out_(out) {
    for (size_t row = 0; row < rows_.size(); ++row) {
      const bool is_root = std::holds_alternative<std::monostate>(rows_.at(row, "parent_hi"));
      if (is_root) roots_.push_back(row);
      if (!is_root)
        children_[{rows_.Number(row, "parent_hi"), rows_.Number(row, "parent_lo")}].push_back(row);
    }
    for (const size_t root : roots_) {
      sampled_ = std::max(sampled_, rows_.Number(root, "sampled_total_ns"));
      timed_ = std::max(timed_, rows_.Number(root, "total_ns"));
    }
  }

  void Write() {
    out_ << absl::StrFormat("%8s %10s %10s %15s %6s  %s\n", "total %", "self", "total", "calls",
                            "runs", "routine");
    // A stack of its own: paths may be thousands deep.
    std::vector<std::pair<size_t, int>> open;
    for (size_t i = roots_.size(); i-- > 0;) open.emplace_back(roots_[i], 0);
    while (!open.empty()) {
      const auto [row, depth] = open.back();
      open.pop_back();
      WriteRow(row, depth);
      const auto below =
          children_.find({rows_.Number(row, "path_hi"), rows_.Number(row, "path_lo")});
      if (below == children_.end()) continue;
      for (size_t i = below->second.size(); i-- > 0;)
        open.emplace_back(below->second[i], depth + 1);
    }
  }

 private:
  void WriteRow(size_t row, int depth) const {
    constexpr int kNumbers = 55;
    const bool is_sampled = sampled_ > 0;
    const int64_t total = rows_.Number(row, is_sampled ? "sampled_total_ns" : "total_ns");
    const int64_t self = rows_.Number(row, is_sampled ? "sampled_ns" : "self_ns");
    const int64_t whole = is_sampled ? sampled_ : timed_;
    const int64_t calls = rows_.Number(row, "calls");
    const int indent = std::min(2 * depth, std::max(0, width_ - kNumbers) / 2);
    const auto time = [&](int64_t ns) {
      return whole == 0 ? std::string() : postproc::FormatNanoseconds(static_cast<double>(ns));
    };
    const std::string share =
        whole == 0 ? "" : absl::StrFormat("%.1f", postproc::PercentOf(total, whole));
    out_ << postproc::PadLeft(share, 8) << ' ' << postproc::PadLeft(time(self), 10) << ' '
         << postproc::PadLeft(time(total), 10) << ' '
         << postproc::PadLeft(calls == 0 ? "" : postproc::FormatCount(calls), 15) << ' '
         << postproc::PadLeft(rows_.Text(row, "runs"), 6) << "  "
         << std::string(static_cast<size_t>(indent), ' ')
         << postproc::FitName(rows_.Text(row, "routine"), width_, kNumbers + indent) << '\n';
  }

  const AnswerRows rows_;
  const int width_;
  std::ostream& out_;
  std::vector<size_t> roots_;
  std::map<std::pair<int64_t, int64_t>, std::vector<size_t>> children_;
  int64_t sampled_ = 0;
  int64_t timed_ = 0;
};

}  // namespace

std::string TextOf(const Value& value) {
  struct Form {
    std::string operator()(std::monostate) const { return ""; }
    std::string operator()(bool it) const { return it ? "true" : "false"; }
    std::string operator()(int64_t it) const { return StrCat(it); }
    std::string operator()(double it) const { return absl::StrFormat("%.17g", it); }
    std::string operator()(const std::string& it) const { return it; }
  };
  return std::visit(Form(), value);
}

void WriteAnswerCsv(const Answer& answer, std::ostream& out) {
  Table table;
  for (const std::string& name : answer.columns) table.columns.push_back({name});
  for (const std::vector<Value>& row : answer.rows) {
    std::vector<Cell>& cells = table.rows.emplace_back();
    for (const Value& value : row) cells.push_back(Cell::Text(TextOf(value)));
  }
  WriteCsv(table, out);
}

void WriteAnswerText(std::string_view query, const Answer& answer, int width, std::ostream& out) {
  if (answer.rows.empty()) {
    out << "no rows\n";
    return;
  }
  if (query == "tree") return TreeText(answer, width, out).Write();
  const AnswerRows rows(answer);
  const std::vector<Shown> shown = ShownColumns(query);
  Table table;
  for (const Shown& it : shown) {
    table.columns.push_back({std::string(it.heading), it.style, it.optional});
  }
  for (size_t row = 0; row < rows.size(); ++row) {
    std::vector<Cell>& cells = table.rows.emplace_back();
    for (const Shown& it : shown) cells.push_back(CellOf(rows, row, it));
  }
  WriteText(table, {width, {}}, out);
}

int WriteChecks(const Answer& answer, int64_t last, std::ostream& out) {
  const AnswerRows rows(answer);
  int broken = 0;
  int64_t all = 0;
  for (size_t row = 0; row < rows.size(); ++row) {
    if (rows.Number(row, "number") > last) continue;
    ++all;
    if (rows.Number(row, "broken") == 0) continue;
    ++broken;
    out << "does not hold in " << postproc::FormatCount(rows.Number(row, "broken")) << " of "
        << postproc::FormatCount(rows.Number(row, "checked")) << ": " << rows.Text(row, "holds")
        << '\n';
  }
  if (broken == 0) {
    out << all << " of " << postproc::Counted(all, "check") << " hold, over "
        << postproc::Counted(rows.size() == 0 ? 0 : rows.Number(0, "checked"), "routine") << '\n';
  }
  return broken;
}

}  // namespace jtrace::control
