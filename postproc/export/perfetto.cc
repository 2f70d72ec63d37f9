// A log of entries and exits as a timeline: a track for each thread and one for collections.

#include <algorithm>
#include <cstdint>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_format.h"
#include "common/json_writer.h"
#include "postproc/model/frame_name.h"
#include "postproc/model/trace_model.h"
#include "postproc/report/report.h"
#include "postproc/samples/event_logs.h"
#include "postproc/support/error_kind.h"
#include "postproc/support/strings.h"
#include "postproc/version.h"

namespace jtrace::postproc {
namespace {

// Where an event is shown: both numbers are defined by the format.
struct Track {
  int64_t pid = 0;
  int64_t tid = 0;
};

// Nothing reaches the output before Commit: earlier events are kept, up to a limit, beyond which
// all are lost.
class TraceEvents {
 public:
  // Times are in the model's unit, which is known from the first record on; ticks, which have no
  // length, are shown as microseconds.
  TraceEvents(const TraceModel& model, std::ostream& out) : model_(model), out_(out) {}

  // Names and arguments are JSON already: "\"A.run()\"", "{\"weight\":1}"; arguments and category
  // may be empty.
  void Begin(Track track, int64_t time, std::string_view name, std::string_view category,
             std::string_view args);
  // Of the slice of that name, which some readers require.
  void End(Track track, int64_t time, std::string_view name);
  // A slice that has ended.
  void Slice(Track track, int64_t time, int64_t length, std::string_view name,
             std::string_view category);
  void Instant(Track track, int64_t time, std::string_view name, std::string_view category,
               std::string_view args);
  void Counter(int64_t pid, int64_t time, std::string_view name, int64_t value);
  // `what`: "process_name", "thread_name".
  void Name(Track track, std::string_view what, std::string_view name);

  // Writes the kept events, and later ones as they arrive. False if something was lost before.
  bool Commit();
  bool committed() const { return committed_; }
  // Key and value, for people: after the events, because only then all is known.
  void Finish(const std::vector<std::pair<std::string, std::string>>& about);

 private:
  void Open(std::string_view phase, Track track);
  void Time(int64_t time, std::string_view key = "ts");
  void Close(std::string_view args);
  void Flush();

  const TraceModel& model_;
  std::ostream& out_;
  std::string buffer_;
  bool committed_ = false;
  bool lost_ = false;
  bool any_ = false;
};

constexpr size_t kFlushBytes = 1 << 16;
// The limit of what is kept before Commit. Traces with entries and exits have some before that much
// of other events.
constexpr size_t kMostHeld = 1 << 24;

void TraceEvents::Open(std::string_view phase, Track track) {
  buffer_ += any_ ? ",\n" : "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  any_ = true;
  StrAppend(&buffer_, "{\"ph\":\"", phase, "\",\"pid\":", track.pid, ",\"tid\":", track.tid);
}

// The format's times are microseconds, with a fraction.
void TraceEvents::Time(int64_t time, std::string_view key) {
  StrAppend(&buffer_, ",\"", key, "\":");
  const TimeUnit unit = model_.unit();
  if (unit != TimeUnit::kNanoseconds) {
    StrAppend(&buffer_, time, unit == TimeUnit::kMilliseconds && time != 0 ? "000" : "");
    return;
  }
  uint64_t size = static_cast<uint64_t>(time);
  if (time < 0) {
    buffer_.push_back('-');
    size = 0 - size;
  }
  StrAppend(&buffer_, size / 1000);
  if (const uint64_t rest = size % 1000; rest != 0) {
    const char digits[] = {'.', static_cast<char>('0' + rest / 100),
                           static_cast<char>('0' + rest / 10 % 10),
                           static_cast<char>('0' + rest % 10)};
    buffer_.append(digits, sizeof digits);
  }
}

void TraceEvents::Close(std::string_view args) {
  if (!args.empty()) StrAppend(&buffer_, ",\"args\":", args);
  buffer_.push_back('}');
  if (buffer_.size() >= kFlushBytes) Flush();
}

void TraceEvents::Flush() {
  if (committed_) {
    out_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    buffer_.clear();
  } else if (buffer_.size() >= kMostHeld) {
    buffer_.clear();
    lost_ = true;
  }
}

bool TraceEvents::Commit() {
  committed_ = !lost_;
  return committed_;
}

void TraceEvents::Begin(Track track, int64_t time, std::string_view name, std::string_view category,
                        std::string_view args) {
  Open("B", track);
  Time(time);
  if (!category.empty()) StrAppend(&buffer_, ",\"cat\":\"", category, "\"");
  StrAppend(&buffer_, ",\"name\":", name);
  Close(args);
}

void TraceEvents::End(Track track, int64_t time, std::string_view name) {
  Open("E", track);
  Time(time);
  StrAppend(&buffer_, ",\"name\":", name);
  Close({});
}

void TraceEvents::Slice(Track track, int64_t time, int64_t length, std::string_view name,
                        std::string_view category) {
  Open("X", track);
  Time(time);
  Time(length, "dur");
  StrAppend(&buffer_, ",\"cat\":\"", category, "\",\"name\":", name);
  Close({});
}

void TraceEvents::Instant(Track track, int64_t time, std::string_view name,
                          std::string_view category, std::string_view args) {
  Open("i", track);
  Time(time);
  StrAppend(&buffer_, ",\"s\":\"t\",\"cat\":\"", category, "\",\"name\":", name);
  Close(args);
}

void TraceEvents::Counter(int64_t pid, int64_t time, std::string_view name, int64_t value) {
  Open("C", {pid, 0});
  Time(time);
  StrAppend(&buffer_, ",\"name\":", name);
  Close(StrCat("{\"total\":", value, "}"));
}

void TraceEvents::Name(Track track, std::string_view what, std::string_view name) {
  Open("M", track);
  StrAppend(&buffer_, ",\"name\":\"", what, "\"");
  Close(StrCat("{\"name\":", name, "}"));
}

void TraceEvents::Finish(const std::vector<std::pair<std::string, std::string>>& about) {
  buffer_ += "\n],\"otherData\":{";
  std::string_view separator;
  for (const auto& [key, value] : about) {
    StrAppend(&buffer_, separator, JsonString(key), ":", JsonString(value));
    separator = ",";
  }
  buffer_ += "}}\n";
  Flush();
  out_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  out_.flush();
}

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

// Memory depends on the threads, their open activations and the names. Rejects traces without
// entries and exits, or whose entries and exits have no times.
class PerfettoWriter : public RecordWriter {
 public:
  PerfettoWriter(const TraceModel& model, const ReportOptions& options, std::ostream& out)
      : model_(model), root_(options.root), events_(model, out) {}

  void OnEnter(At at, RoutineId routine, CodeKind kind) override;
  void OnExit(At at, RoutineId routine, CodeKind kind) override;
  void OnDropped(At at, int64_t events) override;
  void OnPosition(At at, absl::Span<const PathStep> path, size_t shared) override;
  void OnSample(At at, const SampleRecord& sample) override;
  void OnSwitch(At at, bool on) override;
  void OnMetric(At at, MetricId metric, int64_t delta) override;
  void OnNotice(At at, std::string_view op, absl::Span<const std::string> args) override;
  absl::Status Finish() override;

 private:
  struct Open {
    RoutineId routine;
    bool shown = false;  // below --root
  };
  struct Thread {
    bool known = false;
    Track track;
    Track segments;  // tid 0: there were none yet
    uint32_t trace = 0;
    std::vector<Open> open;
    absl::flat_hash_map<RoutineId, uint32_t> open_of;  // how many of them are a routine's
    bool off = false;                                  // the thread is off the processors, and
    bool off_shown = false;                            // a slice shows it
    int64_t last_change = 0;                           // time of its last record except samples
  };
  struct Process {
    int64_t pid = 0;
    Track collections;
    bool has_collections = false;
    bool collecting = false;
    std::string cause;  // JSON
    int64_t last_time = 0;
    std::map<MetricId, int64_t> metrics;  // totals so far
  };

  Thread& ThreadOf(At at);
  Process& ProcessOf(uint32_t trace, int64_t time);
  int64_t FreeTid(int64_t pid, int64_t wanted);
  bool IsRoot(RoutineId routine);
  void Push(Thread& thread, int64_t time, RoutineId routine, std::string_view category);
  void PopTo(Thread& thread, int64_t time, size_t depth);
  void CloseAll(Thread& thread);
  void HideOff(Thread& thread, int64_t time);
  void ShowOff(Thread& thread, int64_t time);
  void OnSegment(ThreadId id, const SegmentPairs::Ended& ended);
  void OnCollection(At at, bool begins, absl::Span<const std::string> args);
  std::string_view Name(RoutineId routine);
  std::string_view Text(FrameId frame);
  void Commit();

  const TraceModel& model_;
  const std::string root_;
  TraceEvents events_;
  std::vector<Thread> threads_;     // by ThreadId
  std::vector<Process> processes_;  // by trace
  std::set<int64_t> pids_;          // taken
  std::set<std::pair<int64_t, int64_t>> tids_;
  std::vector<std::string> names_;   // JSON, by routine
  std::vector<std::string> frames_;  // JSON without quotes, by frame
  std::vector<int8_t> is_root_;      // by routine: 0 not yet known, 1 yes, -1 no
  bool root_found_ = false;
  SegmentPairs segments_;
  std::string_view why_not_;  // there is no timeline; empty: there is one, as far as is known
};

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
