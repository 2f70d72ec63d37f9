#include "postproc/export/perfetto.h"

#include <algorithm>

#include "common/json_writer.h"
#include "postproc/model/frame_name.h"
#include "postproc/report/report.h"
#include "postproc/support/error_kind.h"
#include "postproc/support/strings.h"
#include "postproc/version.h"

namespace jtrace::postproc {
namespace {

// Numbers that the system gives to no thread: for tracks that are not threads, and for numbers
// already in use.
constexpr int64_t kMadeUp = 1 << 30;

constexpr std::string_view kOff = "\"[off]\"";
constexpr std::string_view kDropped = "\"[dropped]\"";

std::string_view CategoryOf(CodeKind kind) {
  switch (kind) {
    case CodeKind::kUnknown:
      return "";
    case CodeKind::kInterpreted:
      return "interpreted";
    case CodeKind::kJitted:
      return "compiled";
  }
  return "";
}

std::string ProcessName(const TraceInfo& trace) {
  const std::string_view command = trace.Fact("command");
  return JsonString(command.empty() ? trace.file : command);
}

}  // namespace

PerfettoWriter::Process& PerfettoWriter::ProcessOf(uint32_t trace, int64_t time) {
  while (processes_.size() <= trace) {
    const TraceInfo& info = model_.traces()[processes_.size()];
    const auto number = static_cast<int64_t>(processes_.size() + 1);
    Process process;
    if (!ParseInteger(info.Fact("pid"), process.pid)) process.pid = number;
    if (!pids_.insert(process.pid).second) process.pid = kMadeUp + number;
    process.collections = {process.pid, kMadeUp};
    process.last_time = time;
    events_.Name({process.pid, process.pid}, "process_name", ProcessName(info));
    processes_.push_back(std::move(process));
  }
  Process& process = processes_[trace];
  process.last_time = std::max(process.last_time, time);
  return process;
}

int64_t PerfettoWriter::FreeTid(int64_t pid, int64_t wanted) {
  int64_t tid = wanted > 0 && wanted < kMadeUp ? wanted : kMadeUp + 1;
  if (tids_.insert({pid, tid}).second) return tid;
  tid = kMadeUp + 1 + static_cast<int64_t>(tids_.size());
  tids_.insert({pid, tid});
  return tid;
}

PerfettoWriter::Thread& PerfettoWriter::ThreadOf(At at) {
  if (threads_.size() <= at.thread.value) threads_.resize(at.thread.value + size_t{1});
  Thread& thread = threads_[at.thread.value];
  const ThreadInfo& info = model_.thread(at.thread);
  const Process& process = ProcessOf(info.trace, at.time);
  if (!thread.known) {
    thread.known = true;
    thread.trace = info.trace;
    thread.last_change = at.time;
    // A virtual thread's number is Java's, which may equal a system thread's.
    thread.track = {process.pid, FreeTid(process.pid, info.is_virtual ? 0 : info.tid)};
    events_.Name(thread.track, "thread_name", JsonString(info.name));
  }
  return thread;
}

std::string_view PerfettoWriter::Name(RoutineId routine) {
  if (names_.size() <= routine.value) names_.resize(model_.routine_count() + 1);
  std::string& name = names_[routine.value];
  if (name.empty()) name = JsonString(model_.RoutineName(routine));
  return name;
}

std::string_view PerfettoWriter::Text(FrameId frame) {
  if (frames_.size() <= frame.value) frames_.resize(model_.frame_count() + 1);
  std::string& text = frames_[frame.value];
  if (text.empty()) {
    const std::string quoted = JsonString(model_.FrameText(frame));
    text = quoted.substr(1, quoted.size() - 2);
  }
  return text;
}

bool PerfettoWriter::IsRoot(RoutineId routine) {
  if (is_root_.size() <= routine.value) is_root_.resize(model_.routine_count() + 1);
  int8_t& is_root = is_root_[routine.value];
  if (is_root == 0) is_root = RoutineMatches(root_, model_.RoutineName(routine)) ? 1 : -1;
  root_found_ |= is_root > 0;
  return is_root > 0;
}

// Slices nest: the slice of a stretch off the processors is always the innermost.
void PerfettoWriter::HideOff(Thread& thread, int64_t time) {
  if (thread.off_shown) events_.End(thread.track, time, kOff);
  thread.off_shown = false;
}

void PerfettoWriter::ShowOff(Thread& thread, int64_t time) {
  if (!thread.off || thread.off_shown) return;
  if (!root_.empty() && (thread.open.empty() || !thread.open.back().shown)) return;
  events_.Begin(thread.track, time, kOff, {}, {});
  thread.off_shown = true;
}

void PerfettoWriter::Push(Thread& thread, int64_t time, RoutineId routine,
                          std::string_view category) {
  const bool below = root_.empty() || (!thread.open.empty() && thread.open.back().shown);
  const bool shown = below || IsRoot(routine);
  if (shown) events_.Begin(thread.track, time, Name(routine), category, {});
  thread.open.push_back({routine, shown});
  ++thread.open_of[routine];
}

void PerfettoWriter::PopTo(Thread& thread, int64_t time, size_t depth) {
  while (thread.open.size() > depth) {
    const Open& innermost = thread.open.back();
    if (innermost.shown) events_.End(thread.track, time, Name(innermost.routine));
    const auto of = thread.open_of.find(innermost.routine);
    if (--of->second == 0) thread.open_of.erase(of);
    thread.open.pop_back();
  }
}

// Activations open at the end last as long as reports count them: until the thread's last record.
void PerfettoWriter::CloseAll(Thread& thread) {
  thread.off = false;
  HideOff(thread, thread.last_change);
  PopTo(thread, thread.last_change, 0);
}

void PerfettoWriter::OnEnter(At at, RoutineId routine, CodeKind kind) {
  Thread& thread = ThreadOf(at);
  Commit();
  thread.last_change = at.time;
  HideOff(thread, at.time);
  Push(thread, at.time, routine, CategoryOf(kind));
  ShowOff(thread, at.time);
}

void PerfettoWriter::OnExit(At at, RoutineId routine, CodeKind) {
  Thread& thread = ThreadOf(at);
  Commit();
  thread.last_change = at.time;
  if (!thread.open_of.contains(routine)) return;
  const auto innermost = std::find_if(thread.open.rbegin(), thread.open.rend(),
                                      [&](const Open& it) { return it.routine == routine; });
  HideOff(thread, at.time);
  PopTo(thread, at.time, static_cast<size_t>(thread.open.rend() - innermost) - 1);
  ShowOff(thread, at.time);
}

void PerfettoWriter::OnDropped(At at, int64_t events) {
  Thread& thread = ThreadOf(at);
  const bool shown = root_.empty() || (!thread.open.empty() && thread.open.back().shown);
  HideOff(thread, thread.last_change);
  if (shown) {
    events_.Begin(thread.track, thread.last_change, kDropped, {},
                  StrCat("{\"entries and exits\":", events, "}"));
    events_.End(thread.track, at.time, kDropped);
  }
  thread.last_change = at.time;
  ShowOff(thread, at.time);
}

void PerfettoWriter::OnPosition(At at, absl::Span<const PathStep> path, size_t) {
  Thread& thread = ThreadOf(at);
  thread.last_change = at.time;
  size_t same = 0;
  while (same < path.size() && same < thread.open.size() &&
         thread.open[same].routine == path[same]) {
    ++same;
  }
  if (same == path.size() && same == thread.open.size()) return;
  HideOff(thread, at.time);
  PopTo(thread, at.time, same);
  for (; same < path.size(); ++same) {
    Push(thread, at.time, path[same], "entered-before");
  }
  ShowOff(thread, at.time);
}

void PerfettoWriter::OnSwitch(At at, bool on) {
  Thread& thread = ThreadOf(at);
  thread.last_change = at.time;
  thread.off = !on;
  if (on) HideOff(thread, at.time);
  ShowOff(thread, at.time);
}

void PerfettoWriter::OnSample(At at, const SampleRecord& sample) {
  const Thread& thread = ThreadOf(at);
  if (!root_.empty()) {
    const bool below = std::any_of(sample.frames.begin(), sample.frames.end(), [&](FrameId frame) {
      return IsRoot(model_.frame(frame).routine);
    });
    if (!below) return;
  }
  std::string args = StrCat("{\"weight\":", sample.weight, ",\"state\":\"",
                            SampleStateName(sample.state), "\",\"stack\":\"");
  for (size_t i = 0; i < sample.frames.size(); ++i) {
    StrAppend(&args, i == 0 ? "" : " > ", Text(sample.frames[i]));
  }
  args += "\"}";
  const std::string_view name = sample.frames.empty()
                                    ? std::string_view("\"[no_frames]\"")
                                    : Name(model_.frame(sample.frames.back()).routine);
  events_.Instant(thread.track, at.time, name, sample.is_unwind ? "unwind" : "sample", args);
}

void PerfettoWriter::OnMetric(At at, MetricId metric, int64_t delta) {
  const Thread& thread = ThreadOf(at);
  Process& process = ProcessOf(thread.trace, at.time);
  int64_t& total = process.metrics[metric];
  total = WrapAdd(total, delta);
  events_.Counter(process.pid, at.time, JsonString(model_.MetricName(metric)), total);
}

void PerfettoWriter::OnCollection(At at, bool begins, absl::Span<const std::string> args) {
  const auto trace = at.thread ? model_.thread(at.thread).trace
                               : static_cast<uint32_t>(model_.traces().size() - 1);
  Process& process = ProcessOf(trace, at.time);
  if (process.collecting == begins) return;
  process.collecting = begins;
  if (!process.has_collections) {
    process.has_collections = true;
    events_.Name(process.collections, "thread_name", "\"garbage collections\"");
  }
  if (!begins) return events_.End(process.collections, at.time, process.cause);
  const bool has_cause = !args.empty() && !args[0].starts_with("value=");
  process.cause = JsonString(has_cause ? args[0] : "collection");
  events_.Begin(process.collections, at.time, process.cause, {}, {});
}

// Below the thread's own track: they need not nest with its calls.
void PerfettoWriter::OnSegment(ThreadId id, const SegmentPairs::Ended& ended) {
  Thread& thread = ThreadOf({ended.begin, id});
  if (thread.segments.tid == 0) {
    thread.segments = {thread.track.pid, FreeTid(thread.track.pid, 0)};
    events_.Name(thread.segments, "thread_name",
                 JsonString(StrCat(model_.thread(id).name, ": segments")));
  }
  events_.Slice(thread.segments, ended.begin, ended.time, JsonString(ended.name), "segment");
}

void PerfettoWriter::OnNotice(At at, std::string_view op, absl::Span<const std::string> args) {
  if (const auto ended = segments_.Take(at, op, args)) {
    if (at.thread && root_.empty()) OnSegment(at.thread, *ended);
    return;
  }
  if (op == "gc-begin" || op == "gc-end") {
    OnCollection(at, op == "gc-begin", args);
  } else if (op == "thread-end" && at.thread) {
    CloseAll(ThreadOf(at));
  } else if (op == "mark" && at.thread) {
    const Thread& thread = ThreadOf(at);
    events_.Instant(thread.track, at.time, JsonString(args.empty() ? "mark" : args[0]), "mark", {});
  }
}

// At the first entry or exit it is decided whether the timeline is written.
void PerfettoWriter::Commit() {
  if (events_.committed() || !why_not_.empty()) return;
  if (model_.traces().back().Fact("clock") == "none") {
    why_not_ = "the trace has no times (clock=none)";
  } else if (!events_.Commit()) {
    why_not_ = "entries and exits begin too late in the trace";
  }
}

absl::Status PerfettoWriter::Finish() {
  if (!events_.committed()) {
    if (why_not_.empty()) why_not_ = "the trace has no entries and exits";
    return absl::FailedPreconditionError(
        StrCat("perfetto: ", why_not_, "; record with record=log,clock=tsc"));
  }
  if (!root_.empty() && !root_found_) {
    return UsageError(absl::NotFoundError(StrCat("--root: no routine '", root_, "' in the trace")));
  }
  for (Thread& thread : threads_) CloseAll(thread);
  for (const Process& process : processes_) {
    if (process.collecting) events_.End(process.collections, process.last_time, process.cause);
  }
  std::vector<std::pair<std::string, std::string>> about = {
      {"exporter", StrCat("jtrace-post ", kVersion)}, {"time_unit", "microseconds"}};
  if (model_.unit() == TimeUnit::kTicks) about.back().second = "ticks";
  for (const std::string_view key : {"command", "jvm", "host", "clock"}) {
    const std::string_view fact = model_.traces().front().Fact(key);
    if (!fact.empty()) about.emplace_back(key, fact);
  }
  events_.Finish(about);
  return absl::OkStatus();
}

namespace {

std::unique_ptr<RecordWriter> MakePerfettoWriter(const TraceModel& model,
                                                 const ReportOptions& options, std::ostream& out) {
  return std::make_unique<PerfettoWriter>(model, options, out);
}

}  // namespace

extern const Report kPerfettoReport = {
    .name = "perfetto",
    .group = ReportGroup::kTools,
    .summary = "timeline of a log, for ui.perfetto.dev and chrome://tracing",
    .example = "jtrace-post --report=perfetto --thread=main -o timeline.json trace.bin",
    .accepts = kAcceptsSort | kAcceptsRoot | kAcceptsThread | kAcceptsScope,
    .stream = MakePerfettoWriter,
};

}  // namespace jtrace::postproc
