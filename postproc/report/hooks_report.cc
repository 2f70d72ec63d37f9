// Native functions with hooks (S3.9): how often they were called, by whom, and how long the calls
// took.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "postproc/report/report.h"
#include "postproc/report/shorten.h"
#include "postproc/report/summary_totals.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

constexpr int64_t kTextHooks = 20;
constexpr int64_t kHookCallers = 20;

Cell NameCell(std::string_view name) { return name.empty() ? Cell::Empty() : Cell::Text(name); }

// The cells of calls and times, as in CSV.
void AddSums(const HookSums& sums, std::vector<Cell>& row) {
  for (const int64_t value : {sums.calls, sums.timed, sums.total_ns, sums.min_ns, sums.max_ns}) {
    row.push_back(Cell::Int(value));
  }
}

int64_t Mean(const HookSums& sums) { return sums.timed == 0 ? 0 : sums.total_ns / sums.timed; }

class HooksWriter {
 public:
  HooksWriter(const ReportInput& input, std::ostream& out)
      : input_(input), out_(out), hooks_(HookTotals(input)), calls_(HookedCalls(hooks_)) {}

  void Write() {
    if (hooks_.empty()) {
      out_ << Wrapped(
          "no hooks in this trace: the agent's option hook= puts them into native functions, "
          "e.g. hook=libc.so.6!malloc:time",
          input_.options.width);
      return;
    }
    out_ << Counted(calls_, "call") << " of "
         << Counted(static_cast<int64_t>(hooks_.size()), "hook") << "\n\n";
    for (const size_t index : WriteHooks()) {
      if (!hooks_[index].callers.empty()) WriteCallers(hooks_[index]);
    }
  }

 private:
  // The first columns of text; their names are those of the CSV, for --sort.
  static Table MakeTable() {
    Table table;
    table.columns = {{"calls", Style::kCount},
                     {"percent"},
                     {"timed", Style::kCount, true},
                     {"total_ns", Style::kNanoseconds, true},
                     {"mean_ns", Style::kNanoseconds, true},
                     {"min_ns", Style::kNanoseconds, true},
                     {"max_ns", Style::kNanoseconds, true}};
    return table;
  }
  static std::vector<Cell> MakeRow(const HookSums& sums, int64_t of_calls) {
    // A time of 0 is valid if there was a call.
    const auto time = [&](int64_t ns) { return sums.timed == 0 ? Cell::Empty() : Cell::Int(ns); };
    return {Cell::Int(sums.calls), Cell::Percent(PercentOf(sums.calls, of_calls)),
            Cell::Int(sums.timed), time(sums.total_ns),
            time(Mean(sums)),      time(sums.min_ns),
            time(sums.max_ns)};
  }
  // Sorts and shows; the last column is not shown, but returned.
  std::vector<size_t> WriteRows(Table table, int64_t most, std::string_view what);
  std::vector<size_t> WriteHooks();
  void WriteCallers(const HookTotal& hook);
  void WriteTimes(const HookTotal& hook);

  const ReportInput& input_;
  std::ostream& out_;
  const std::vector<HookTotal> hooks_;
  const int64_t calls_;
};

std::vector<size_t> HooksWriter::WriteRows(Table table, int64_t most, std::string_view what) {
  SortAsWanted(input_, table);
  const size_t all = table.rows.size();
  LimitRows(table, input_.options.top > 0 ? input_.options.top : most);
  std::vector<size_t> indexes;
  for (auto& row : table.rows) {
    indexes.push_back(static_cast<size_t>(row.back().integer()));
    row.pop_back();
  }
  table.columns.pop_back();
  for (Column& column : table.columns) {
    if (column.name.ends_with("_ns")) column.name.resize(column.name.size() - 3);
    if (column.name == "java" || column.name == "native") column.name += " caller";
  }
  WriteText(table, input_.layout(), out_);
  if (const size_t left = all - indexes.size(); left > 0) {
    out_ << "… " << Counted(static_cast<int64_t>(left), StrCat("more ", what)) << '\n';
  }
  return indexes;
}

// Returns the hooks shown, in their order.
std::vector<size_t> HooksWriter::WriteHooks() {
  Table table = MakeTable();
  table.columns.insert(table.columns.end(), {{"kind"}, {"hook"}, {"pattern"}, {"index"}});
  for (size_t i = 0; i < hooks_.size(); ++i) {
    const HookTotal& hook = hooks_[i];
    if (IsFiltered(input_, hook.sums.calls, calls_)) continue;
    std::vector<Cell> row = MakeRow(hook.sums, calls_);
    row.push_back(Cell::Text(HookKindName(hook.kind)));
    row.push_back(Cell::Text(hook.name));
    row.push_back(Cell::Text(hook.pattern));
    row.push_back(Cell::Int(static_cast<int64_t>(i)));
    table.rows.push_back(std::move(row));
  }
  return WriteRows(std::move(table), kTextHooks, "hook");
}

void HooksWriter::WriteTimes(const HookTotal& hook) {
  const HookSums& sums = hook.sums;
  if (hook.kind != HookKind::kTime && sums.timed == 0) return;
  out_ << FormatCount(sums.timed) << " of " << Counted(sums.calls, "call") << " timed";
  if (sums.timed == 0) {
    out_ << ": no return was seen\n";
    return;
  }
  const auto time = [](int64_t ns) { return FormatNanoseconds(static_cast<double>(ns)); };
  out_ << ": " << time(sums.total_ns) << " in all, " << time(Mean(sums)) << " a call, from "
       << time(sums.min_ns) << " to " << time(sums.max_ns) << '\n';
}

void HooksWriter::WriteCallers(const HookTotal& hook) {
  constexpr int kDecoration = 6;  // "── " and " ──"
  out_ << "\n── " << FitName(hook.name, input_.options.width, kDecoration) << " ──\n";
  WriteTimes(hook);
  Table table = MakeTable();
  table.columns.insert(table.columns.end(), {Column{"thread", Style::kPlain, true}.AsPlain(),
                                             {"java", Style::kPlain, true},
                                             {"native", Style::kPlain, true},
                                             {"index"}});
  for (const HookCaller& caller : hook.callers) {
    if (IsFiltered(input_, caller.sums.calls, calls_)) continue;
    std::vector<Cell> row = MakeRow(caller.sums, hook.sums.calls);
    row.push_back(NameCell(caller.thread));
    row.push_back(NameCell(caller.java));
    row.push_back(NameCell(caller.native));
    row.push_back(Cell::Int(0));
    table.rows.push_back(std::move(row));
  }
  WriteRows(std::move(table), kHookCallers, "caller");
}

// A row for each hook and caller; a hook that was never called has a row without a caller.
Table HooksTable(const ReportInput& input) {
  Table table;
  table.columns = {{"hook"},
                   {"kind"},
                   Column{"thread"}.AsPlain(),
                   {"java"},
                   {"native"},
                   {"calls", Style::kCount},
                   {"timed", Style::kCount},
                   {"total_ns", Style::kNanoseconds},
                   {"min_ns", Style::kNanoseconds},
                   {"max_ns", Style::kNanoseconds},
                   {"pattern"}};
  const std::vector<HookTotal> hooks = HookTotals(input);
  const int64_t calls = HookedCalls(hooks);
  const auto add = [&](const HookTotal& hook, const HookCaller& caller) {
    if (IsFiltered(input, caller.sums.calls, calls)) return;
    std::vector<Cell> row = {Cell::Text(hook.name), Cell::Text(HookKindName(hook.kind)),
                             NameCell(caller.thread), NameCell(caller.java),
                             NameCell(caller.native)};
    AddSums(caller.sums, row);
    row.push_back(NameCell(hook.pattern));
    table.rows.push_back(std::move(row));
  };
  for (const HookTotal& hook : hooks) {
    if (hook.callers.empty()) add(hook, {});
    for (const HookCaller& caller : hook.callers) add(hook, caller);
  }
  return table;
}

void HooksText(const ReportInput& input, std::ostream& out) { HooksWriter(input, out).Write(); }

}  // namespace

extern const Report kHooksReport = {
    .name = "hooks",
    .group = ReportGroup::kEvents,
    .summary = "calls of native functions with hooks (hook=): who calls them, how long they take",
    .example = "jtrace-post --report=hooks --top=10 trace.bin",
    .accepts = kAcceptsOfRecords,
    .instead = {{kAcceptsMetric,
                 "it is about calls of native functions; --report=flat has metrics by routine"}},
    .table = HooksTable,
    .text = HooksText,
};

}  // namespace jtrace::postproc
