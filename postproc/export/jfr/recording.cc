#include "postproc/export/jfr/recording.h"

#include <algorithm>

#include "postproc/export/jfr/bytes.h"
#include "postproc/export/jfr/schema.h"
#include "postproc/support/error_kind.h"
#include "postproc/support/strings.h"
#include "postproc/support/wrap.h"

namespace jtrace::postproc::jfr {
namespace {

// A sample has an event for each of its ticks; the limit keeps a hostile trace from filling a disk.
constexpr int64_t kMostSamples = 200'000'000;
constexpr size_t kHeaderBytes = 68;
constexpr uint64_t kTicksPerSecond = 1'000'000'000;

void AppendBigEndian(std::string& out, uint64_t value, int bytes) {
  while (bytes-- > 0) out.push_back(static_cast<char>(value >> (8 * bytes)));
}

}  // namespace

// As Flight Recorder distinguishes them: a thread runs Java code also in the JVM's stubs, and while
// the kernel interrupts it.
bool RecordingWriter::IsJavaCode(const SampleRecord& sample) const {
  for (size_t i = sample.frames.size(); i-- > 0;) {
    const Frame& frame = model_.frame(sample.frames[i]);
    if (IsJava(frame.origin)) return true;
    const bool is_stub =
        frame.origin == Origin::kVm && model_.ModuleOf(frame) == std::string_view("[stubs]");
    if (frame.origin != Origin::kKernel && !is_stub) return false;
  }
  return false;
}

bool RecordingWriter::IsRoot(RoutineId routine) {
  if (is_root_.size() <= routine.value) is_root_.resize(model_.routine_count() + 1);
  std::optional<bool>& is_root = is_root_[routine.value];
  if (!is_root) is_root = RoutineMatches(root_, model_.RoutineName(routine));
  return *is_root;
}

void RecordingWriter::OnSample(At at, const SampleRecord& sample) {
  if (sample.is_unwind || sample.weight <= 0 || too_many_) return;
  const bool is_selected =
      root_.empty() || std::any_of(sample.frames.begin(), sample.frames.end(), [&](FrameId frame) {
        return IsRoot(model_.frame(frame).routine);
      });
  if (!is_selected) return;
  too_many_ = sample.weight > kMostSamples - samples_;
  if (too_many_) return;
  samples_ += sample.weight;
  Event event;
  event.time = at.time;
  event.thread = at.thread;
  event.stack = constants_.StackOf(sample);
  event.type = IsJavaCode(sample) ? kExecutionSample : kNativeMethodSample;
  event.state = static_cast<uint32_t>(NumberOf(sample.state));
  event.count = static_cast<uint32_t>(sample.weight);
  events_.push_back(event);
}

void RecordingWriter::OnNotice(At at, std::string_view op, absl::Span<const std::string>) {
  if (!at.thread || (op != "thread-start" && op != "thread-end")) return;
  if (model_.thread(at.thread).is_vm_internal) return;
  Event event;
  event.time = at.time;
  event.thread = at.thread;
  event.type = op == "thread-start" ? kThreadStart : kThreadEnd;
  events_.push_back(event);
}

int64_t RecordingWriter::UnixNanos(ThreadId thread, int64_t time) const {
  return WrapAdd(starts_[model_.thread(thread).trace],
                 WrapMultiply(time, NanosecondsPer(model_.unit())));
}

void RecordingWriter::FindTimes() {
  for (const TraceInfo& trace : model_.traces()) {
    starts_.push_back(0);
    if (!ParseInteger(trace.Fact("unix_time_ns"), starts_.back())) starts_.back() = 0;
  }
  begin_ = UnixNanos(events_.front().thread, events_.front().time);
  end_ = begin_;
  for (const Event& event : events_) {
    const int64_t time = UnixNanos(event.thread, event.time);
    begin_ = std::min(begin_, time);
    end_ = std::max(end_, time);
  }
}

void RecordingWriter::Put(std::string_view bytes) {
  at_ += bytes.size();
  if (is_writing_) out_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

void RecordingWriter::Append(const std::string& fields) {
  std::string event;
  AppendEvent(event, fields);
  Put(event);
}

void RecordingWriter::AppendSample(const Event& event) {
  std::string fields;
  AppendNumber(fields, event.type);
  AppendNumber(fields, static_cast<uint64_t>(UnixNanos(event.thread, event.time)));
  AppendNumber(fields, event.thread.value);
  AppendNumber(fields, event.stack);
  AppendNumber(fields, event.state);
  std::string bytes;
  AppendEvent(bytes, fields);
  for (uint32_t i = 0; i < event.count; ++i) Put(bytes);
}

void RecordingWriter::AppendThread(const Event& event) {
  std::string fields;
  AppendNumber(fields, event.type);
  AppendNumber(fields, static_cast<uint64_t>(UnixNanos(event.thread, event.time)));
  AppendNumber(fields, event.thread.value);  // where the event was
  AppendNumber(fields, event.thread.value);  // the thread that began or ended
  Append(fields);
}

void RecordingWriter::AppendJvm(const TraceInfo& trace) {
  int64_t pid = 0;
  if (!ParseInteger(trace.Fact("pid"), pid)) pid = 0;
  int64_t start = 0;
  if (!ParseInteger(trace.Fact("unix_time_ns"), start)) start = 0;
  std::string fields;
  AppendNumber(fields, kJvmInformation);
  AppendNumber(fields, static_cast<uint64_t>(begin_));
  AppendText(fields, trace.Fact("jvm"));
  AppendText(fields, trace.Fact("jvm"));
  AppendText(fields,
             "");  // arguments of the JVM and its flags: traces have them in `command` alone
  AppendText(fields, "");
  AppendText(fields, trace.Fact("command"));
  AppendNumber(fields, static_cast<uint64_t>(start / 1'000'000));
  AppendNumber(fields, static_cast<uint64_t>(pid));
  Append(fields);
}

void RecordingWriter::AppendSettings() {
  std::string recording;
  AppendNumber(recording, kActiveRecording);
  AppendNumber(recording, static_cast<uint64_t>(begin_));
  AppendNumber(recording, 1);
  AppendText(recording, StrCat("jtrace ", model_.traces().front().file));
  AppendNumber(recording, static_cast<uint64_t>(begin_ / 1'000'000));
  AppendNumber(recording, static_cast<uint64_t>(WrapSub(end_, begin_) / 1'000'000));
  Append(recording);
  const int64_t interval = model_.interval_ns();
  if (interval == 0) return;
  for (const TypeId event : {kExecutionSample, kNativeMethodSample}) {
    std::string setting;
    AppendNumber(setting, kActiveSetting);
    AppendNumber(setting, static_cast<uint64_t>(begin_));
    AppendNumber(setting, event);
    AppendText(setting, "period");
    AppendText(setting, StrCat(interval, " ns"));
    Append(setting);
  }
}

void RecordingWriter::PutBody() {
  at_ = kHeaderBytes;
  for (const TraceInfo& trace : model_.traces()) AppendJvm(trace);
  AppendSettings();
  for (const Event& event : events_) {
    event.state == 0 ? AppendThread(event) : AppendSample(event);
  }
  constants_at_ = constants_.Write(begin_, at_, [&](std::string_view event) { Put(event); });
  metadata_at_ = at_;
  Put(MetadataEvent(begin_));
}

// The head has sizes and positions of what follows: so the body is made twice, and never held.
void RecordingWriter::Write() {
  PutBody();
  std::string header("FLR\0", 4);
  AppendBigEndian(header, 2, 2);
  AppendBigEndian(header, 1, 2);
  for (const uint64_t value : {at_, constants_at_, metadata_at_, static_cast<uint64_t>(begin_),
                               static_cast<uint64_t>(WrapSub(end_, begin_)),
                               static_cast<uint64_t>(begin_), kTicksPerSecond}) {
    AppendBigEndian(header, value, 8);
  }
  AppendBigEndian(header, 1, 4);  // finished; integers are compressed
  out_ << header;
  is_writing_ = true;
  PutBody();
}

absl::Status RecordingWriter::Finish() {
  if (too_many_) {
    return absl::ResourceExhaustedError(
        StrCat("jfr: more than ", kMostSamples, " samples; select threads with --thread=NAME"));
  }
  if (samples_ == 0 && !root_.empty()) {
    return UsageError(
        absl::NotFoundError(StrCat("--root: no sample of routine '", root_, "' in the trace")));
  }
  if (samples_ == 0) {
    return absl::FailedPreconditionError(
        "jfr: the trace has no samples; record with mode=merged or mode=samples");
  }
  if (model_.unit() == TimeUnit::kTicks) {
    return absl::FailedPreconditionError(
        "jfr: the trace's times have no unit; record with mode=merged or mode=samples");
  }
  FindTimes();
  Write();
  return absl::OkStatus();
}

}  // namespace jtrace::postproc::jfr
