#include "postproc/reader/session_facts.h"

#include <iterator>
#include <string>
#include <string_view>

#include "absl/strings/str_format.h"
#include "common/visible_text.h"
#include "postproc/reader/definitions.h"
#include "postproc/reader/event_codes.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
void AddSession(const proto::SessionStart& start, TraceInfo& trace) {
  const auto set = [&](std::string_view key, std::string_view value) {
    if (!value.empty()) trace.SetFact(key, value);
  };
  set("agent_version", start.agent_version());
  if (start.pid() != 0) set("pid", StrCat(start.pid()));
  set("host", start.host());
  set("jvm", start.jvm());
  set("command", FromModifiedUtf8(start.command()));
  set("options", start.options());
  set("mode", start.mode());
  set("record", start.record());
  set("clock", start.clock());
  set("timer", start.timer());
  set("stack", start.stack());
  set("codes", start.codes());
  if (start.jitter()) set("jitter", "on");
  for (const proto::Flag& limit : start.inlining_limit()) {
    if (limit.name().size() >= 64) continue;
    const std::string value =
        limit.real() != 0 ? absl::StrFormat("%g", limit.real()) : StrCat(limit.value());
    set(StrCat("flag.", limit.name()), value);
  }
  if (start.interval_events() != 0) set("interval_events", StrCat(start.interval_events()));
  if (start.unix_time_ns() != 0) set("unix_time_ns", StrCat(start.unix_time_ns()));
  if (start.file_begin_ns() != 0) set("file_begin_ns", StrCat(StreamTime(start.file_begin_ns())));
  if (start.interval_ns() != 0) {
    trace.interval_ns = StreamTime(start.interval_ns());
    set("interval_ns", StrCat(trace.interval_ns));
  }
}

void AddSampling(const SampleSums& sums, TraceInfo& trace) {
  const auto set = [&](std::string_view key, uint64_t value) {
    if (value != 0) trace.SetFact(key, StrCat(StreamTime(value)));
  };
  set("handler_samples", sums.cost.samples());
  set("handler_total_ns", sums.cost.total_ns());
  set("handler_median_ns", sums.cost.median_ns());
  set("handler_p99_ns", sums.cost.p99_ns());
  if (sums.records == 0) return;
  set("file_bytes", sums.file_bytes);
  set("sample_bytes", static_cast<uint64_t>(sums.bytes / static_cast<double>(sums.records)));
}

void AddEnd(const proto::SessionEnd& end, TraceInfo& trace) {
  constexpr std::string_view kReasons[] = {"unknown", "the program ended", "stopped",
                                           "the agent failed", kEndedBySamples};
  const auto reason = static_cast<size_t>(end.reason());
  trace.SetFact("end", kReasons[reason < std::size(kReasons) ? reason : 0]);
  if (end.agent_cpu_ns() != 0) trace.SetFact("agent_cpu_ns", StrCat(end.agent_cpu_ns()));
  if (end.agent_memory_bytes() != 0) {
    trace.SetFact("agent_memory_bytes", StrCat(end.agent_memory_bytes()));
  }
  trace.SetFact("methods_probed", StrCat(end.methods_probed()));
}

void AddPlanner(const proto::Planner& planner, TraceInfo& trace) {
  trace.SetCount("planner.classes_seen", StreamCount(planner.classes_seen()), "classes in scope");
  trace.SetCount("planner.classes_rewritten", StreamCount(planner.classes_rewritten()),
                 "classes rewritten");
  trace.SetCount("planner.methods_seen", StreamCount(planner.methods_seen()), "methods in them");
  trace.SetCount("planner.methods_probed", StreamCount(planner.methods_probed()),
                 "methods with probes");
  const auto add = [&](std::string_view group, const auto& rows) {
    for (const proto::Planner::Row& row : rows) {
      trace.SetCount(StrCat("planner.", group, ".", row.name()), StreamCount(row.count()),
                     row.what());
    }
  };
  add("probe", planner.probe());
  add("method", planner.method());
  add("call", planner.call());
}

void AddCodeTotals(const CodeTotals& totals, TraceInfo& trace) {
  for (const auto& [code, total] : totals) {
    const std::string key = StrCat("total.", CodeText(code.first, code.second));
    const EventCode* known = FindEventCode(code.first, code.second);
    const std::string_view name = known != nullptr ? known->plural : "unknown events";
    trace.SetCount(key, StreamCount(total.count()), name);
    if (total.recorded() != total.count()) {
      trace.SetCount(StrCat(key, ".recorded"), StreamCount(total.recorded()),
                     StrCat(name, ": of these, with a record"));
    }
    if (total.total_ns() != 0) {
      trace.SetCount(StrCat(key, ".ns"), StreamCount(total.total_ns()),
                     StrCat(name, ": nanoseconds, all together"));
    }
  }
}

void AddLosses(const std::vector<proto::Loss>& losses, TraceInfo& trace) {
  for (const proto::Loss& it : losses) {
    if (it.count() == 0) continue;
    Loss loss;
    loss.name = it.name();
    loss.severity = it.severity() == proto::Loss::ERROR  ? Severity::kError
                    : it.severity() == proto::Loss::INFO ? Severity::kInfo
                                                         : Severity::kWarning;
    loss.count = StreamCount(it.count());
    loss.what = it.what();
    loss.advice = it.advice();
    trace.SetLoss(std::move(loss));
  }
}

}  // namespace jtrace::postproc
