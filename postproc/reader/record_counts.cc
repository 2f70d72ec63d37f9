#include "postproc/reader/record_counts.h"

#include "postproc/reader/text_format.h"
#include "proto/trace_format.h"

namespace jtrace::postproc {

void RecordCounts::Count(std::string_view op) {
  const auto found = ops_.find(op);
  if (found != ops_.end()) {
    ++found->second;
  } else {
    ops_.emplace(op, 1);
  }
}

void RecordCounts::OnCalls(ThreadId, absl::Span<const CallRecord> calls) {
  // Sums over all and over two parts, without branches: logs are long.
  int64_t exits = 0;
  int64_t jitted = 0;
  int64_t jitted_exits = 0;
  for (const CallRecord& call : calls) {
    const int is_jitted = call.kind == CodeKind::kJitted ? 1 : 0;
    exits += call.is_exit ? 1 : 0;
    jitted += is_jitted;
    jitted_exits += is_jitted & (call.is_exit ? 1 : 0);
  }
  const auto all = static_cast<int64_t>(calls.size());
  Counts& compiled = calls_[Index(CodeKind::kJitted)];
  compiled.begins += jitted - jitted_exits;
  compiled.ends += jitted_exits;
  Counts& interpreted = calls_[Index(CodeKind::kInterpreted)];
  interpreted.begins += all - exits - (jitted - jitted_exits);
  interpreted.ends += exits - jitted_exits;
}

void RecordCounts::OnReducedCalls(ThreadId, const ReducedCalls& calls,
                                  absl::FunctionRef<void(RecordVisitor&)>) {
  Counts& interpreted = calls_[Index(CodeKind::kInterpreted)];
  interpreted.begins += calls.enters[0];
  interpreted.ends += calls.exits[0];
  Counts& compiled = calls_[Index(CodeKind::kJitted)];
  compiled.begins += calls.enters[1];
  compiled.ends += calls.exits[1];
}

void RecordCounts::OnDropped(At, int64_t events) {
  Count("session-loss");
  dropped_events_ += events;
}

void RecordCounts::OnSample(At, const SampleRecord& sample) {
  Count(sample.is_unwind ? "unwind" : "sample");
}

void RecordCounts::OnNotice(At, std::string_view op, absl::Span<const std::string> args) {
  const EventCode* code = FindEventCodeByOp(op);
  if (code == nullptr || code->major != format::kInterrupt) return Count(op);
  uint32_t level = 0;
  for (const std::string& arg : args) {
    int64_t value = 0;
    if (arg.starts_with(kLevelArg) &&
        ParseInteger(std::string_view(arg).substr(kLevelArg.size()), value)) {
      level = static_cast<uint32_t>(value);
    }
  }
  Counts& counts = interrupts_[level];
  ++(op == code->begin ? counts.begins : counts.ends);
}

void RecordCounts::OnCode(At, const CodeRecord& code) { Count(text::CodeOp(code.op)); }

std::vector<RecordCounts::Row> RecordCounts::Rows() const {
  std::vector<Row> rows;
  const auto of = [&](std::string_view op) {
    const auto found = ops_.find(op);
    return found == ops_.end() ? 0 : found->second;
  };
  for (const EventCode& code : AllEventCodes()) {
    if (code.major == format::kInterrupt) {
      for (const auto& [level, counts] : interrupts_) {
        rows.push_back({&code, format::kInterruptLevel + level, counts.begins, counts.ends});
      }
      continue;
    }
    Row row = {&code, code.minor, 0, 0};
    // "thread-end" ends several codes; the first one gets it.
    if (FindEventCodeByOp(code.begin) == &code) row.begins = of(code.begin);
    if (FindEventCodeByOp(code.end) == &code) row.ends = of(code.end);
    constexpr std::pair<std::string_view, CodeKind> kCalls[] = {{"enter", CodeKind::kUnknown},
                                                                {"enter.i", CodeKind::kInterpreted},
                                                                {"enter.j", CodeKind::kJitted}};
    for (const auto& [op, kind] : kCalls) {
      if (code.begin != op) continue;
      row.begins = calls_[Index(kind)].begins;
      row.ends = calls_[Index(kind)].ends;
    }
    if (row.begins + row.ends > 0) rows.push_back(row);
  }
  return rows;
}

}  // namespace jtrace::postproc
