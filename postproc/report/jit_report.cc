// How the JIT compiler treated the calls (S2.6): hot calls that it did not inline, and methods
// whose code was discarded or compiled again.
#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_format.h"
#include "postproc/report/hot_arcs.h"
#include "postproc/report/report.h"
#include "postproc/report/shorten.h"
#include "postproc/report/units.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

// The text leaves out arcs below that share of all calls, unless --filter says otherwise.
constexpr double kHotPercent = 0.1;
constexpr size_t kTextCallers = 20;
constexpr size_t kTextMethods = 20;

int64_t AllCalls(const std::vector<HotArc>& arcs) {
  int64_t calls = 0;
  for (const HotArc& arc : arcs) calls = WrapAdd(calls, arc.calls);
  return calls;
}

// The owner of the code.
enum class Owner { kMethod, kAdapter, kUnknown };
constexpr std::string_view kRowOfOwner[] = {"method", "adapter", "unknown"};

struct Method {
  RoutineId routine;
  CompiledRoutine compiled;
  int64_t calls = 0;
  Owner owner = Owner::kMethod;
};

// The JVM makes code of invokeBasic and the linkTo… methods of MethodHandle (signature polymorphic,
// JVMS 2.9.3) for each shape of arguments: many pieces of one name, none of them a recompilation.
Owner OwnerOf(std::string_view name) {
  if (name == "[unknown method]") return Owner::kUnknown;
  if (!ConsumePrefix(name, "java.lang.invoke.MethodHandle.")) return Owner::kMethod;
  const bool adapts = name.starts_with("invokeBasic(") || name.starts_with("linkTo");
  return adapts ? Owner::kAdapter : Owner::kMethod;
}

// All compiled code: methods first, then by how often it was discarded, made again, freed, called,
// and by name; those of several class loaders share it.
std::vector<Method> CollectMethods(const ReportInput& input) {
  absl::flat_hash_map<RoutineId, int64_t> calls;
  for (const FlatRow& row : input.flat().rows()) {
    if (row.routine) calls[row.routine] = row.calls;
  }
  std::vector<Method> methods;
  for (const auto& [routine, compiled] : input.jit.compiled()) {
    methods.push_back(
        {routine, compiled, calls[routine], OwnerOf(input.model.RoutineName(routine))});
  }
  const auto rank = [&](const Method& it) {
    const CompiledRoutine& code = it.compiled;
    return std::tuple(it.owner, -code.discarded, -code.again, -code.loads, -code.unloads, -it.calls,
                      input.model.RoutineName(it.routine), it.routine.value);
  };
  std::sort(methods.begin(), methods.end(),
            [&](const Method& a, const Method& b) { return rank(a) < rank(b); });
  return methods;
}

// "C2", "C1 (tier 3)", "native wrapper"; "" if it is not known.
std::string Tier(const CompiledRoutine& compiled) {
  if (compiled.loads == 0) return "";
  if (compiled.is_native_wrapper) return "native wrapper";
  if (compiled.level == 0) return "";
  if (compiled.level == kC2Level) return "C2";
  return StrCat("C1 (tier ", compiled.level, ")");
}

int64_t ByC1(const CompiledRoutine& compiled) {
  return compiled.by_level[1] + compiled.by_level[2] + compiled.by_level[3];
}

std::vector<Cell> TierCells(const CompiledRoutine& compiled) {
  return {
      Cell::Text(Tier(compiled)), Cell::Int(ByC1(compiled)), Cell::Int(compiled.by_level[kC2Level]),
      Cell::Int(compiled.osr),    Cell::Int(compiled.again), Cell::Int(compiled.discarded)};
}

class JitText {
 public:
  JitText(const ReportInput& input, std::ostream& out)
      : input_(input), out_(out), arcs_(CollectHotArcs(input)), all_calls_(AllCalls(arcs_)) {}

  void Write() {
    if (input_.jit.empty()) {
      out_ << "no records of compiled code in this trace (with mode=samples: codes=+jit; "
              "mode=events has "
              "none)\n";
      return;
    }
    WriteArcs();
    out_ << '\n';
    WriteMethods();
  }

 private:
  struct Caller {
    RoutineId routine;
    int64_t calls = 0;
    std::vector<const HotArc*> arcs;
  };

  size_t Top(size_t standard) const {
    return input_.options.top > 0 ? static_cast<size_t>(input_.options.top) : standard;
  }
  bool IsHot(const HotArc& arc) const {
    const double least =
        input_.options.filter_percent > 0 ? input_.options.filter_percent : kHotPercent;
    return PercentOf(arc.calls, all_calls_) >= least;
  }
  std::vector<Caller> Callers() const;
  std::string Code(RoutineId routine) const;
  std::string NameAndFacts(RoutineId routine, std::string_view facts, int used) const;
  static constexpr int kMargin = 36;  // of what is said about a call
  void WriteArcs();
  void WriteArc(const HotArc& arc);
  void WriteReason(const InlineReason& why);
  void WriteMethods();

  const ReportInput& input_;
  std::ostream& out_;
  const std::vector<HotArc> arcs_;
  const int64_t all_calls_;
};

// Compiled callers with hot calls that are not inlined everywhere, by the number of these calls.
std::vector<JitText::Caller> JitText::Callers() const {
  std::vector<Caller> callers;
  absl::flat_hash_map<RoutineId, size_t> index;
  for (const HotArc& arc : arcs_) {
    if (!arc.is_left_out() || !IsHot(arc)) continue;
    auto [entry, inserted] = index.try_emplace(arc.caller, callers.size());
    if (inserted) callers.push_back({arc.caller, 0, {}});
    Caller& caller = callers[entry->second];
    caller.calls = WrapAdd(caller.calls, arc.calls);
    caller.arcs.push_back(&arc);
  }
  std::stable_sort(callers.begin(), callers.end(),
                   [](const Caller& a, const Caller& b) { return a.calls > b.calls; });
  return callers;
}

std::string JitText::Code(RoutineId routine) const {
  const CompiledRoutine it = input_.jit.Compiled(routine);
  if (it.loads == 0) return "no separate code";
  const std::string tier = Tier(it);
  std::string text = StrCat(tier, tier.empty() ? "" : ", ", Counted(it.size, "byte"), " of code");
  if (it.again > 0) StrAppend(&text, ", compiled again ", FormatCount(it.again), "×");
  return text;
}

// In one line, or the facts in one of their own. The name begins in column `used`.
std::string JitText::NameAndFacts(RoutineId routine, std::string_view facts, int used) const {
  constexpr int kAround = 4;         // two blanks and the parentheses
  constexpr int kLeastForName = 24;  // narrower names are hardly read
  const std::string_view name = input_.model.RoutineName(routine);
  const int width = input_.options.width;
  const int room = width - used - kAround - DisplayWidth(facts);
  const bool is_one_line = width == 0 || room >= kLeastForName;
  const std::string shown = ShortenName(name, width == 0    ? 0
                                              : is_one_line ? room
                                                            : std::max(width - used, 1));
  if (is_one_line) return StrCat(shown, "  (", facts, ")\n");
  return StrCat(shown, "\n", std::string(static_cast<size_t>(used) + 2, ' '),
                Wrapped(StrCat("(", facts, ")"), width, used + 2));
}

void JitText::WriteArc(const HotArc& arc) {
  const std::string calls = FormatCount(arc.calls);
  std::string facts = Code(arc.callee);
  if (arc.inlining.inlined > 0) {
    StrAppend(&facts, ", inlined in ", arc.inlining.inlined, " of ",
              Counted(arc.inlining.bodies, "body", "bodies"));
  }
  out_ << PadLeft(absl::StrFormat("%.1f %%", PercentOf(arc.calls, all_calls_)), 8)
       << PadLeft(calls, 16)
       << PadLeft(absl::StrFormat("%.0f %%", PercentOf(arc.jitted, arc.calls)), 10) << "  "
       << NameAndFacts(arc.callee, facts, kMargin);
}

void JitText::WriteReason(const InlineReason& why) {
  const std::string margin(kMargin, ' ');
  const std::string reason = StrCat(why.reason, why.basis() == "derived" ? " (derived)" : "",
                                    why.detail.empty() ? "" : ": ", Printable(why.detail));
  const int width = input_.options.width;
  out_ << margin << Wrapped(reason, width, kMargin) << margin
       << Wrapped(StrCat("→ ", why.remedy), width, kMargin);
}

void JitText::WriteArcs() {
  const std::vector<Caller> callers = Callers();
  out_ << Wrapped(
      "hot calls that were not inlined: share of the calls between methods, calls, callee ran "
      "compiled",
      input_.options.width);
  if (callers.empty()) out_ << "  none\n";
  size_t shown = 0;
  for (const Caller& caller : callers) {
    if (shown++ == Top(kTextCallers)) {
      out_ << "… "
           << Counted(static_cast<int64_t>(callers.size() - Top(kTextCallers)), "more caller")
           << ": --top=N\n";
      break;
    }
    const std::string facts = Code(caller.routine);
    out_ << NameAndFacts(caller.routine, facts, 0);
    for (size_t i = 0; i < caller.arcs.size(); ++i) {
      const InlineReason& why = caller.arcs[i]->reason;
      WriteArc(*caller.arcs[i]);
      // Classes of one call share their reason.
      const bool is_last = i + 1 == caller.arcs.size();
      if (is_last || !caller.arcs[i + 1]->reason.IsSame(why)) WriteReason(why);
    }
  }
}

void JitText::WriteMethods() {
  Table table;
  table.columns = {{"discarded", Style::kCount},
                   {"again", Style::kCount},
                   {"C1", Style::kCount},
                   {"C2", Style::kCount},
                   {"OSR", Style::kCount},
                   {"freed", Style::kCount},
                   {"bytes", Style::kCount},
                   {"calls", Style::kCount},
                   {"last"},
                   {"routine"}};
  int64_t steady = 0;
  int64_t pieces[std::size(kRowOfOwner)] = {};
  for (const Method& method : CollectMethods(input_)) {
    const CompiledRoutine& code = method.compiled;
    pieces[static_cast<size_t>(method.owner)] += code.loads;
    if (method.owner != Owner::kMethod) continue;
    if (code.again == 0 && code.discarded == 0) {
      ++steady;
    } else if (table.rows.size() < Top(kTextMethods)) {
      table.rows.push_back({Cell::Int(code.discarded), Cell::Int(code.again), Cell::Int(ByC1(code)),
                            Cell::Int(code.by_level[kC2Level]), Cell::Int(code.osr),
                            Cell::Int(code.unloads), Cell::Int(code.size), Cell::Int(method.calls),
                            Cell::Text(Tier(code)),
                            Cell::Text(input_.model.RoutineName(method.routine))});
    }
  }
  out_ << Wrapped(
              "methods whose code was discarded (mostly deoptimised) or compiled again at the same "
              "level;",
              input_.options.width)
       << "code of " << Counted(steady, "other") << " stayed or got better\n";
  if (table.rows.empty()) out_ << "  none\n";
  if (!table.rows.empty()) WriteText(table, input_.layout(), out_);
  if (pieces[1] + pieces[2] == 0) return;
  out_ << Wrapped(
      StrCat("apart: ", Counted(pieces[1], "piece"), " of adapters for method handles, ",
             FormatCount(pieces[2]), " of methods that are not known"),
      input_.options.width);
}

Table JitTable(const ReportInput& input) {
  Table table;
  table.columns = {{"row"},
                   {"caller"},
                   {"name"},
                   {"calls", Style::kCount},
                   {"calls_pct"},
                   {"calls_jitted", Style::kCount},
                   {"status"},
                   {"inlined_bodies", Style::kCount},
                   {"bodies", Style::kCount},
                   {"compiled", Style::kCount},
                   {"dropped", Style::kCount},
                   {"size", Style::kCount},
                   {"tier"},
                   {"c1", Style::kCount},
                   {"c2", Style::kCount},
                   {"osr", Style::kCount},
                   {"again", Style::kCount},
                   {"discarded", Style::kCount},
                   {"bytecodes", Style::kCount},
                   {"reason"},
                   {"basis"},
                   {"detail"},
                   {"remedy"}};
  const auto add = [&](std::vector<Cell> row, const CompiledRoutine& compiled,
                       const InlineReason& why) {
    row.insert(row.end(),
               {Cell::Int(compiled.loads), Cell::Int(compiled.unloads), Cell::Int(compiled.size)});
    for (Cell& cell : TierCells(compiled)) row.push_back(std::move(cell));
    row.insert(row.end(),
               {Cell::Int(compiled.bytecodes), Cell::Text(why.reason), Cell::Text(why.basis()),
                Cell::Text(why.detail), Cell::Text(why.remedy)});
    table.rows.push_back(std::move(row));
  };
  const std::vector<HotArc> arcs = CollectHotArcs(input);
  const int64_t all_calls = AllCalls(arcs);
  for (const HotArc& arc : arcs) {
    const double percent = PercentOf(arc.calls, all_calls);
    if (percent < input.options.filter_percent) continue;
    add({Cell::Text("arc"), Cell::Text(input.model.RoutineName(arc.caller)),
         Cell::Text(input.model.RoutineName(arc.callee)), Cell::Int(arc.calls),
         Cell::Percent(percent), Cell::Int(arc.jitted), Cell::Text(arc.status),
         Cell::Int(arc.inlining.inlined), Cell::Int(arc.inlining.bodies)},
        input.jit.Compiled(arc.callee), arc.reason);
  }
  for (const Method& method : CollectMethods(input)) {
    add({Cell::Text(kRowOfOwner[static_cast<size_t>(method.owner)]), Cell::Empty(),
         Cell::Text(input.model.RoutineName(method.routine)), Cell::Int(method.calls),
         Cell::Empty(), Cell::Empty(), Cell::Empty(), Cell::Empty(), Cell::Empty()},
        method.compiled, {});
  }
  return table;
}

void JitReportText(const ReportInput& input, std::ostream& out) { JitText(input, out).Write(); }

}  // namespace

extern const Report kJitReport = {
    .name = "jit",
    .group = ReportGroup::kEvents,
    .summary = "hot calls that were not inlined and why, methods compiled again",
    .example = "jtrace-post --report=jit --top=10 trace.bin",
    .accepts = kAcceptsOfRecords | kAcceptsRoot | kAcceptsFold,
    .instead = {{kAcceptsMetric,
                 "it is about calls of compiled code; --report=arcflow has metrics by caller"}},
    .table = JitTable,
    .text = JitReportText,
};

}  // namespace jtrace::postproc
