#include "postproc/report/text_writer.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_format.h"
#include "postproc/reader/text_format.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

std::string_view KindSuffix(CodeKind kind) {
  switch (kind) {
    case CodeKind::kUnknown:
      return "";
    case CodeKind::kInterpreted:
      return ".i";
    case CodeKind::kJitted:
      return ".j";
  }
  return "";
}

}  // namespace

void TextWriter::WriteMeta(std::string_view kind, std::initializer_list<std::string_view> fields) {
  line_.append(text::kMetaPrefix).append(kind);
  for (const std::string_view field : fields) Field(field);
  End();
}

void TextWriter::WriteHeader() {
  if (header_written_) return;
  header_written_ = true;
  out_ << text::kHeaderPrefix << text::kVersion << " unit=" << TimeUnitName(model_.unit()) << '\n';
  for (const TraceInfo& trace : model_.traces()) {
    for (const auto& [key, value] : trace.facts) WriteMeta("session", {key, value});
    if (trace.cut_off) WriteMeta("session", {"cut_off", "1"});
    if (trace.running) WriteMeta("session", {"running", "1"});
    for (const TraceCount& count : trace.counts) {
      WriteMeta("count", {count.key, StrCat(count.value), count.what});
    }
    for (const Loss& loss : trace.losses) {
      WriteMeta("loss", {loss.name, SeverityName(loss.severity), StrCat(loss.count), loss.what,
                         loss.advice});
    }
  }
  WriteRoutines();
  for (const TraceInfo& trace : model_.traces()) {
    for (const HookInfo& hook : trace.hooks) {
      WriteMeta("hook", {model_.FrameText(hook.frame), HookKindName(hook.kind), hook.pattern});
    }
  }
}

// Properties of routines other than their names.
void TextWriter::WriteRoutines() {
  std::vector<RoutineId> scope(model_.scope().begin(), model_.scope().end());
  std::sort(scope.begin(), scope.end());
  for (const RoutineId routine : scope) WriteMeta("scope", {model_.RoutineName(routine)});
  for (uint32_t i = 1; i <= model_.routine_count(); ++i) {
    const RoutineTraits traits = model_.TraitsOf(RoutineId(i));
    // Hooked functions have separate lines.
    if (traits.kind == RoutineKind::kMethod || model_.IsHooked(RoutineId(i))) continue;
    const std::string_view kind = RoutineKindName(traits.kind);
    const std::string_view cost = RoutineCostName(traits.cost);
    const std::string_view name = model_.RoutineName(RoutineId(i));
    if (traits.cycles == 0 && traits.millicycles_per_element == 0) {
      WriteMeta("routine", {kind, cost, name});
    } else {
      WriteMeta("routine",
                {kind, cost, name, StrCat(traits.cycles), StrCat(traits.millicycles_per_element)});
    }
  }
}

void TextWriter::Begin(At at, std::string_view op) {
  WriteHeader();
  StrAppend(&line_, at.time, "\t");
  if (at.thread) text::AppendEscaped(line_, model_.thread(at.thread).name);
  StrAppend(&line_, "\t", op);
}

void TextWriter::Field(std::string_view text) {
  line_.push_back('\t');
  text::AppendEscaped(line_, text);
}

void TextWriter::RoutineField(RoutineId routine) {
  if (event_fields_.size() <= routine.value) event_fields_.resize(model_.routine_count() + 1);
  std::string& field = event_fields_[routine.value];
  if (field.empty()) {
    field.push_back('\t');
    text::AppendEscaped(field, FormatFrameName({Origin::kNone, {}, model_.RoutineName(routine)}));
  }
  line_ += field;
}

// Each with the place where it called the next one.
void TextWriter::PathFields(absl::Span<const PathStep> path) {
  for (size_t i = 0; i < path.size(); ++i) {
    RoutineField(path[i]);
    if (i + 1 < path.size()) text::AppendPlace(line_, path[i + 1].place);
  }
}

void TextWriter::End() {
  line_.push_back('\n');
  out_.write(line_.data(), static_cast<std::streamsize>(line_.size()));
  line_.clear();
}

void TextWriter::OnEnter(At at, RoutineId routine, CodeKind kind) {
  Begin(at, "enter");
  line_ += KindSuffix(kind);
  RoutineField(routine);
  End();
}

void TextWriter::OnExit(At at, RoutineId routine, CodeKind kind) {
  Begin(at, "exit");
  line_ += KindSuffix(kind);
  RoutineField(routine);
  End();
}

void TextWriter::OnDropped(At at, int64_t events) {
  Begin(at, "session-loss");
  Field(StrCat("value=", events));
  End();
}

void TextWriter::OnPosition(At at, absl::Span<const PathStep> path, size_t) {
  Begin(at, "position");
  PathFields(path);
  End();
}

void TextWriter::LabelsLine(At at, LabelsId labels) {
  LabelsId& last = last_labels_[at.thread];
  if (last == labels) return;
  last = labels;
  Begin(at, "labels");
  if (labels) Field(model_.LabelsText(labels));
  End();
}

void TextWriter::OnSample(At at, const SampleRecord& sample) {
  LabelsLine(at, sample.labels);
  if (sample.bci.has_value() && !sample.is_unwind) {
    Begin(at, "place");
    Field(StrCat(*sample.bci));
    End();
  }
  Begin(at, sample.is_unwind ? "unwind" : "sample");
  if (sample.has_path) line_ += "-at";
  if (sample.state != SampleState::kRunning) StrAppend(&line_, ".", SampleStateName(sample.state));
  if (sample.blocker) {
    line_.push_back('@');
    text::AppendEscaped(line_, model_.ClassName(sample.blocker));
  }
  if ((sample.weight != 1 || sample.blocker) && !sample.is_unwind) {
    StrAppend(&line_, "*", sample.weight);
  }
  if (sample.has_path) {
    Field(StrCat(sample.path.size()));
    PathFields(sample.path);
  }
  for (size_t i = 0; i < sample.frames.size(); ++i) {
    const FrameId frame = sample.frames[i];
    if (frame_fields_.size() <= frame.value) frame_fields_.resize(frame.value + size_t{64});
    std::string& field = frame_fields_[frame.value];
    if (field.empty()) {
      field.push_back('\t');
      text::AppendEscaped(field, model_.FrameText(frame));
    }
    line_ += field;
    if (!sample.places.empty()) text::AppendPlace(line_, sample.places[i]);
  }
  End();
}

void TextWriter::OnSwitch(At at, bool on) {
  Begin(at, on ? "on" : "off");
  End();
}

void TextWriter::OnMetric(At at, MetricId metric, int64_t delta) {
  Begin(at, "metric");
  Field(model_.MetricName(metric));
  Field(StrCat(delta));
  End();
}

void TextWriter::OnNode(At at, const NodeCounts& counts, absl::Span<const PathStep> path, size_t) {
  Begin(at, "node");
  std::string pairs;
  const auto add = [&](std::string_view key, int64_t value) {
    if (!pairs.empty()) pairs.push_back(',');
    text::AppendEscapedKey(pairs, key);
    StrAppend(&pairs, "=", value);
  };
  if (counts.calls.has_value()) add("calls", *counts.calls);
  if (counts.calls_jitted.has_value()) add("calls_jitted", *counts.calls_jitted);
  if (counts.base.has_value()) add("base", *counts.base);
  if (counts.off.has_value()) add("off", *counts.off);
  if (counts.min.has_value()) add("min", *counts.min);
  if (counts.max.has_value()) add("max", *counts.max);
  for (const auto& [metric, value] : counts.metrics) add(model_.MetricName(metric), value);
  text::ForEachBlockPair(counts.blocks, add);
  StrAppend(&line_, "\t", pairs);
  PathFields(path);
  End();
}

void TextWriter::OnHook(At at, const HookRecord& hook) {
  Begin(at, "hook");
  Field(model_.FrameText(hook.hook));
  Field(HookKindName(hook.kind));
  Field(hook.caller ? model_.FrameText(hook.caller) : "");
  Field(text::HookSumsText(hook.sums));
  PathFields(hook.path);
  for (const FrameId jumped : hook.jumped) Field(model_.FrameText(jumped));
  End();
}

// An inlining row is "@PC" and then a field "BCI ROUTINE" or "BCI/BYTECODES ROUTINE" for each
// frame, innermost first.
void TextWriter::OnCode(At at, const CodeRecord& code) {
  Begin(at, text::CodeOp(code.op));
  RoutineField(code.routine);
  Field(absl::StrFormat("address=0x%x", code.address));
  Field(StrCat("size=", code.size));
  if (code.method != 0) Field(StrCat("method=", code.method));
  if (code.level != 0) Field(StrCat("level=", code.level));
  if (code.native_wrapper) Field("native");
  if (code.osr_entry != 0) Field(StrCat("osr=", code.osr_entry));
  if (code.bytecodes != 0) Field(StrCat("bytecodes=", code.bytecodes));
  if (code.modifiers != 0) Field(StrCat("modifiers=", code.modifiers));
  for (const CodeRecord::Row& row : code.rows) {
    Field(StrCat("@", row.pc));
    for (const CodeRecord::Frame& frame : row.frames) {
      StrAppend(&line_, "\t", frame.bci);
      if (frame.bytecodes != 0) StrAppend(&line_, "/", frame.bytecodes);
      StrAppend(&line_, " ");
      text::AppendEscaped(line_, model_.RoutineName(frame.routine));
    }
  }
  End();
}

void TextWriter::OnNotice(At at, std::string_view op, absl::Span<const std::string> args) {
  Begin(at, op);
  for (const std::string& arg : args) Field(arg);
  End();
}

absl::Status TextWriter::Finish() {
  WriteHeader();
  out_.flush();
  return absl::OkStatus();
}

namespace {

std::unique_ptr<RecordWriter> MakeTextWriter(const TraceModel& model, const ReportOptions&,
                                             std::ostream& out) {
  return std::make_unique<TextWriter>(model, out);
}

}  // namespace

extern const Report kDumpReport = {
    .name = "dump",
    .group = ReportGroup::kTools,
    .summary = "the trace as text, record by record; it gives the same reports",
    .example = "jtrace-post dump trace.bin > trace.jtxt",
    .accepts = kAcceptsSort | kAcceptsRoot | kAcceptsThread | kAcceptsScope,
    .stream = MakeTextWriter,
};

}  // namespace jtrace::postproc
