#include "postproc/reader/chunk_emitter.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_format.h"
#include "postproc/model/trace_model.h"
#include "postproc/reader/definitions.h"
#include "postproc/reader/event_codes.h"
#include "postproc/support/strings.h"
#include "proto/trace.pb.h"
#include "proto/trace_format.h"

namespace jtrace::postproc {
namespace {

// The arguments of a notice about a wait that ended (0x64).
std::string_view CauseName(proto::WaitEvent::Cause cause) {
  switch (cause) {
    case proto::WaitEvent::OWNED:
      return "owned";
    case proto::WaitEvent::UNOWNED:
      return "unowned";
    case proto::WaitEvent::UNPARKED:
      return "unparked";
    case proto::WaitEvent::ENDED:
      return "ended";
    case proto::WaitEvent::NOTIFIED:
      return "notified";
    case proto::WaitEvent::TIMED_OUT:
      return "timed-out";
    case proto::WaitEvent::INTERRUPTED:
      return "interrupted";
    default:
      return "unknown";  // of a newer agent, too
  }
}

// How it ended, its time, and what is known of the object and the threads: "how=unparked",
// "value=4000", "on=a.Queue", "for=worker-1", "at=a.Main.run()", "by=a.Worker.put()".
std::vector<std::string> WaitArgs(const proto::Event& event, Definitions& definitions,
                                  const TraceModel& model) {
  const proto::WaitEvent& wait = event.wait_event();
  std::vector<std::string> args = {StrCat("how=", CauseName(wait.cause())),
                                   StrCat("value=", std::max<int64_t>(event.value(), 0))};
  const auto add = [&](std::string_view key, std::string_view name) {
    definitions.budget().TakeText(name.size());
    args.push_back(StrCat(key, name));
  };
  if (event.text() != 0) add("on=", definitions.Text(event.text()));
  if (wait.by_thread() != 0) add("for=", model.thread(definitions.Thread(wait.by_thread())).name);
  if (wait.routine() != 0) add("at=", model.RoutineName(definitions.Routine(wait.routine())));
  if (wait.by_routine() != 0) add("by=", model.RoutineName(definitions.Routine(wait.by_routine())));
  return args;
}

// The cost, in steps of the budget, of a level of a path that differs from the path before.
constexpr uint64_t kPathStep = 16;

int64_t ClampNumber(int64_t value) {
  const int64_t limit = StreamTime(std::numeric_limits<uint64_t>::max());
  return std::clamp(value, -limit, limit);
}

std::vector<std::string> CodeArgs(const proto::CodeEvent& code, std::string name) {
  return {std::move(name), absl::StrFormat("address=0x%x", code.address()),
          StrCat("size=", code.size())};
}

}  // namespace

ChunkEmitter::ChunkEmitter(Definitions& definitions, TraceModel& model, ImportStats& stats,
                           RecordVisitor& visitor)
    : definitions_(definitions),
      model_(model),
      stats_(stats),
      visitor_(visitor),
      log_positions_(definitions, model, stats),
      sample_frames_(definitions, model, stats) {}

void ChunkEmitter::EmitLogs(ThreadLogs& logs, uint32_t thread, int64_t until) {
  while (logs.next < logs.cursors.size()) {
    LogCursor& cursor = logs.cursors[logs.next];
    if (!cursor.AtEnd() && cursor.time() > until) return;
    if (cursor.AtEnd()) {
      if (cursor.damaged()) stats_.Add(Problem::kDamagedLog);
      ++logs.next;
      continue;
    }
    const At at = MakeAt(thread, cursor.time());
    if (cursor.AtMark()) {
      EmitMark(cursor.TakeMark(), thread, at);
    } else if (!EmitRun(logs, at)) {
      EmitCalls(cursor, at, until);
    }
  }
}

void ChunkEmitter::EmitCalls(LogCursor& cursor, At at, int64_t until) {
  calls_.clear();
  cursor.Take(until, at.time, LogCursor::kCallsAtOnce, definitions_, calls_);
  if (calls_.empty()) return;
  last_times_[at.thread] = calls_.back().time;
  visitor_.OnCalls(at.thread, calls_);
}

// False if no run that can be passed on as a whole begins here.
bool ChunkEmitter::EmitRun(ThreadLogs& logs, At at) {
  if (logs.next_run == logs.runs.size()) return false;
  const LogRun& run = logs.runs[logs.next_run];
  if (run.log != logs.next || run.ops_left != logs.cursors[logs.next].ops_left()) return false;
  ++logs.next_run;
  // Its times are not those of the stream if the thread's time would run back.
  if (run.calls.first_time != at.time) return false;
  last_times_[at.thread] = run.calls.last_time;
  visitor_.OnReducedCalls(at.thread, run.calls, [&](RecordVisitor& visitor) {
    EmitOneByOne(logs, run, at.thread, visitor);
  });
  logs.next = run.end_log;
  logs.cursors[run.end_log] = run.end;
  return true;
}

void ChunkEmitter::EmitOneByOne(const ThreadLogs& logs, const LogRun& run, ThreadId thread,
                                RecordVisitor& visitor) {
  int64_t time = run.calls.first_time;
  int64_t left = run.calls.calls();
  std::vector<CallRecord> calls;
  for (size_t log = run.log; log <= run.end_log; ++log) {
    LogCursor cursor = logs.cursors[log];
    while (left > 0 && !cursor.AtEnd()) {
      calls.clear();
      cursor.Take(run.calls.last_time, std::max(time, cursor.time()),
                  std::min<size_t>(LogCursor::kCallsAtOnce, static_cast<size_t>(left)),
                  definitions_, calls);
      if (calls.empty()) break;
      time = calls.back().time;
      left -= static_cast<int64_t>(calls.size());
      visitor.OnCalls(thread, calls);
    }
  }
}

void ChunkEmitter::EmitMark(LogCursor::Mark mark, uint32_t thread, At at) {
  if (mark.op == format::kLogPosition) {
    if (const auto path = log_positions_.Find(thread, mark.value)) {
      visitor_.OnPosition(at, path->steps, path->shared);
    }
  } else if (mark.op == format::kLogDropped) {
    visitor_.OnDropped(at, StreamTime(mark.value));
  } else {
    stats_.Add(Problem::kUnknownEvent);
  }
}

void ChunkEmitter::Emit(const ChunkPayload& payload, ChunkPlan& plan) {
  const proto::Chunk& chunk = payload.chunk();
  for (const std::string_view log : payload.logs()) log_positions_.Allow(log.size());
  sample_frames_.Begin(chunk);
  auto& logs = plan.logs();
  for (const ChunkPlan::Item& item : plan.items()) {
    if (const auto found = logs.find(item.thread); found != logs.end()) {
      EmitLogs(found->second, item.thread, item.time);
    }
    if (item.source == ChunkPlan::Source::kEvent) {
      EmitEvent(chunk.event(item.index), item.time);
    } else {
      EmitSample(chunk.sample(item.index), item.time);
    }
  }
  for (const uint32_t thread : plan.log_threads()) {
    EmitLogs(logs[thread], thread, std::numeric_limits<int64_t>::max());
  }
}

At ChunkEmitter::MakeAt(uint32_t thread, int64_t time) {
  At at{time, definitions_.Thread(thread)};
  auto [last, first] = last_times_.try_emplace(at.thread, time);
  at.time = last->second = std::max(last->second, time);
  if (first) visitor_.OnNotice(at, "thread-start", definitions_.ThreadArgs(at.thread));
  return at;
}

void ChunkEmitter::Unknown(const proto::Event& event) {
  stats_.Add(Problem::kUnknownEvent,
             stats_.WantsDetail() ? absl::StrFormat("unknown event 0x%x/0x%x at %d ns, skipped",
                                                    event.major(), event.minor(), event.time_ns())
                                  : std::string());
}

bool ChunkEmitter::EmitCall(const proto::Event& event, int64_t time) {
  CodeKind kind = CodeKind::kUnknown;
  if (event.major() == format::kInterpreted) kind = CodeKind::kInterpreted;
  if (event.major() == format::kJitted) kind = CodeKind::kJitted;
  if (kind == CodeKind::kUnknown && event.major() != format::kBoundary) return false;
  if ((event.minor() & ~format::kEnd) != format::kCall) return false;
  // A routine called across the scope's boundary need not be instrumented.
  const RoutineId routine = event.major() == format::kBoundary && event.text() != 0
                                ? model_.InternRoutine(definitions_.Text(event.text()))
                                : definitions_.Routine(static_cast<uint32_t>(event.value()));
  const At at = MakeAt(event.thread(), time);
  if ((event.minor() & format::kEnd) != 0) {
    visitor_.OnExit(at, routine, kind);
  } else {
    visitor_.OnEnter(at, routine, kind);
  }
  return true;
}

// For a thread, with a number: a stretch of its log that was left out.
bool ChunkEmitter::EmitDropped(const proto::Event& event, int64_t time) {
  if (event.major() != format::kSession || event.minor() != format::kSessionLoss ||
      event.thread() == 0 || event.text() != 0) {
    return false;
  }
  visitor_.OnDropped(MakeAt(event.thread(), time),
                     std::max<int64_t>(ClampNumber(event.value()), 0));
  return true;
}

void ChunkEmitter::EmitEvent(const proto::Event& event, int64_t time) {
  if (EmitCall(event, time) || EmitDropped(event, time)) return;
  const uint32_t begin = event.minor() & ~format::kEnd;
  if (event.major() == format::kThreadSwitch && begin == format::kSwitch) {
    visitor_.OnSwitch(MakeAt(event.thread(), time), begin == event.minor());
  } else if (event.major() == format::kMetric && event.minor() == format::kMetricEvent) {
    visitor_.OnMetric(MakeAt(event.thread(), time),
                      model_.InternMetric(definitions_.Text(event.text())),
                      ClampNumber(event.value()));
  } else if (event.major() == format::kJit && event.has_code_event() &&
             (begin == format::kJitCode || event.minor() == format::kJitInlining)) {
    EmitCode(event, time);
  } else {
    EmitNotice(event, time);
  }
}

void ChunkEmitter::EmitCode(const proto::Event& event, int64_t time) {
  const proto::CodeEvent& code = event.code_event();
  CodeRecord record;
  record.op = event.minor() == format::kJitInlining ? CodeRecord::Op::kInlining
              : (event.minor() & format::kEnd) != 0 ? CodeRecord::Op::kUnload
                                                    : CodeRecord::Op::kLoad;
  // A class that was not seen has no methods with numbers.
  const auto routine_of = [&](uint32_t method) {
    return method == 0 ? model_.InternRoutine("[unknown method]") : definitions_.Method(method);
  };
  record.routine = routine_of(code.method());
  record.address = code.address();
  record.size = static_cast<uint64_t>(StreamTime(code.size()));
  record.method = code.method();
  if (record.op == CodeRecord::Op::kLoad) {
    record.level = code.level();
    record.native_wrapper = code.native_wrapper();
    record.osr_entry = code.osr_entry();
    record.bytecodes = code.bytecodes();
    record.modifiers = code.modifiers();
  }
  code_frames_.clear();
  const int frames = std::min(code.inlined_size(), code.bci_size());
  absl::flat_hash_set<uint32_t> sized;
  for (int i = 0; i < frames; ++i) {
    const auto known = static_cast<int>(sized.size());
    const bool has_size =
        known < code.inlined_bytecodes_size() && sized.insert(code.inlined(i)).second;
    code_frames_.push_back(
        {routine_of(code.inlined(i)), code.bci(i), has_size ? code.inlined_bytecodes(known) : 0});
  }
  code_rows_.clear();
  absl::Span<const CodeRecord::Frame> left = code_frames_;
  for (int i = 0; i < std::min(code.pc_size(), code.depth_size()); ++i) {
    const size_t depth = std::min<size_t>(code.depth(i), left.size());
    code_rows_.push_back({code.pc(i), left.first(depth)});
    left.remove_prefix(depth);
  }
  if (record.op == CodeRecord::Op::kInlining) record.rows = code_rows_;
  visitor_.OnCode(event.thread() == 0 ? At{time, ThreadId()} : MakeAt(event.thread(), time),
                  record);
}

// Of a class: how many methods. Of a method: its name, whether it is compiled and where.
void ChunkEmitter::AddMethodArgs(const proto::Event& event, std::vector<std::string>& args) {
  const proto::ClassEvent& details = event.class_event();
  if (event.minor() == format::kClassLoad) {
    // Older agents list the methods instead.
    const int64_t count = std::max<int64_t>(event.value(), details.method_size());
    if (count > 0) args.push_back(StrCat("methods=", count));
  }
  if (event.minor() != format::kClassMethod || details.method_size() == 0) return;
  args.emplace_back(model_.RoutineName(definitions_.Method(details.method(0))));
  if (event.value() >= 0) args.push_back(StrCat("jitted=", event.value()));
  if (details.jitted_address_size() > 0) {
    args.push_back(absl::StrFormat("address=0x%x", details.jitted_address(0)));
  }
}

void ChunkEmitter::AddRequester(const proto::AllocationEvent& details,
                                std::vector<std::string>& args) {
  if (details.routine() == 0) return;
  args.push_back(StrCat("at=", model_.RoutineName(definitions_.Routine(details.routine()))));
  if (details.line() != 0) args.push_back(StrCat("line=", details.line()));
}

void ChunkEmitter::EmitNotice(const proto::Event& event, int64_t time) {
  const std::string_view op = NoticeOp(event.major(), event.minor());
  if (op.empty()) return Unknown(event);
  const At at = event.thread() == 0 ? At{time, ThreadId()} : MakeAt(event.thread(), time);
  // MakeAt has announced it.
  if (op == "thread-start" && event.thread() != 0) return;
  std::vector<std::string> args;
  if (event.major() == format::kClass && event.has_class_event()) {
    args.push_back(definitions_.ClassName(event.class_event().class_id()));
    AddMethodArgs(event, args);
    if (event.text() != 0) args.push_back(definitions_.Text(event.text()));
  } else if (event.major() == format::kJit && event.has_code_event()) {
    args = CodeArgs(event.code_event(), definitions_.Text(event.text()));
  } else if (event.major() == format::kWaited) {
    args = WaitArgs(event, definitions_, model_);
  } else {
    if (event.text() != 0) args.push_back(definitions_.Text(event.text()));
    if (event.value() != 0) args.push_back(StrCat("value=", event.value()));
    const uint32_t level = (event.minor() & ~format::kEnd) - format::kInterruptLevel;
    if (event.major() == format::kInterrupt && level != 0) {
      args.push_back(StrCat(kLevelArg, level));
    }
    if (event.has_allocation_event()) AddRequester(event.allocation_event(), args);
  }
  visitor_.OnNotice(at, op, args);
}

absl::Span<const PathStep> ChunkEmitter::PathOf(uint32_t node, uint32_t& thread) {
  const std::optional<uint32_t> owner = definitions_.trees().ThreadOf(node);
  NodePath& path = sample_paths_[owner.value_or(thread)];
  if (owner.has_value()) {
    if (*owner != 0) thread = *owner;
    const size_t kept = path.MoveTo(node, NodePath::kNoBound, definitions_, model_).value_or(0);
    definitions_.budget().Take(kPathStep * (path.steps().size() - kept));
  } else {
    stats_.Add(Problem::kUndefinedReference);
    path.MoveToLost(model_);
  }
  // The receiver of the record walks the path.
  definitions_.budget().Take(path.steps().size());
  return path.steps();
}

void ChunkEmitter::EmitSample(const proto::Sample& sample, int64_t time) {
  const uint32_t major = sample.major() == 0 ? uint32_t{format::kTimerUnwind} : sample.major();
  if (major != format::kTimerUnwind && major != format::kInstrumentedUnwind) {
    stats_.Add(Problem::kUnknownEvent);
    return;
  }
  SampleRecord record;
  record.is_unwind = major == format::kInstrumentedUnwind;
  record.weight = sample.weight() == 0 ? 1 : sample.weight();
  record.state = static_cast<size_t>(sample.state()) < kSampleStates
                     ? static_cast<SampleState>(sample.state())
                     : SampleState::kUnknown;
  if (sample.blocker_class() != 0 && !record.is_unwind) {
    const std::string name = definitions_.ClassName(sample.blocker_class());
    if (!name.empty()) record.blocker = model_.InternClass(name);
  }
  record.labels = definitions_.LabelsOf(sample.labels());
  uint32_t thread = sample.thread();
  if (sample.node() != 0 && !sample.position_unknown()) {
    // The sample belongs to the node's tree.
    record.has_path = true;
    record.path = PathOf(sample.node(), thread);
  } else {
    record.has_path = sample.position_unknown();
  }
  sample_frames_.Read(sample, time, frames_, places_);
  if (definitions_.stacks_are_cut() && !record.is_unwind) AnchorFrame(record.path);
  std::reverse(frames_.begin(), frames_.end());
  std::reverse(places_.begin(), places_.end());
  record.frames = frames_;
  record.bci = sample_frames_.InnermostBci(sample);
  record.places = places_;
  visitor_.OnSample(MakeAt(thread, time), record);
}

// If samples are one frame (stack=frame, appframe, pc) its callers are not known, but events show
// what the thread had entered: the chain begins there, unless the frame is one of these.
void ChunkEmitter::AnchorFrame(absl::Span<const PathStep> path) {
  if (frames_.empty() || path.empty()) return;
  for (const FrameId frame : frames_) {
    const RoutineId routine = model_.frame(frame).routine;
    if (std::find(path.begin(), path.end(), routine) != path.end()) return;
  }
  frames_.push_back(model_.InternFrame({path.back(), ModuleId(), Origin::kNone}));
  if (!places_.empty()) places_.push_back(kNoCallSite);
}

void ChunkEmitter::EmitTrees() {
  const int64_t end = StreamTime(definitions_.end_time());
  AgentTrees& trees = definitions_.trees();
  AgentBlocks& blocks = definitions_.blocks();
  blocks.FinishPaths(trees);
  std::vector<PathStep> path;
  size_t lost = 0;  // 1: the path begins with [lost]
  uint32_t last_thread = 0;
  std::optional<At> at;  // of that thread
  trees.DepthFirst([&](uint32_t node, TreeNode& it, uint32_t level) {
    if (level == 0) {
      path.clear();
      lost = it.lost ? 1 : 0;
      if (it.lost) path.push_back(model_.InternRoutine("[lost]"));
    }
    path.resize(level + lost);
    const size_t shared = level == 0 || it.thread != last_thread ? 0 : path.size();
    if (!at.has_value() || it.thread != last_thread) at = MakeAt(it.thread, end);
    last_thread = it.thread;
    path.emplace_back(definitions_.Routine(it.routine), it.place);
    if (blocks.has_paths()) it.counts.blocks = blocks.PathsOf(node, it);
    visitor_.OnNode(*at, it.counts, path, shared);
  });
  for (const AgentTrees::RootCounts& root : trees.roots()) {
    visitor_.OnNode(MakeAt(root.thread, end), root.counts, {}, 0);
  }
  const RoutineId flat = model_.InternRoutine("[flat]");
  for (const AgentTrees::FlatCount& it : definitions_.trees().flat()) {
    NodeCounts counts;
    counts.calls = StreamTime(it.calls);
    if (it.jitted != 0) counts.calls_jitted = StreamTime(it.jitted);
    const PathStep path[] = {flat, definitions_.Routine(it.routine)};
    visitor_.OnNode(MakeAt(it.thread, end), counts, path, 0);
  }
  EmitWithoutPath(end);
  EmitHooks(end);
  EmitBlocks(end);
  EmitSegments(end);
}

// Blocks that were counted by method only, below a root of their own.
void ChunkEmitter::EmitWithoutPath(int64_t time) {
  const auto all = definitions_.blocks().WithoutPath(definitions_.trees());
  if (all.empty()) return;
  ThreadInfo info;
  info.name = "[no path]";
  info.trace = static_cast<uint32_t>(model_.traces().size() - 1);
  const At at{time, model_.AddThread(std::move(info))};
  visitor_.OnNotice(at, "thread-start", definitions_.ThreadArgs(at.thread));
  for (const auto& [routine, blocks] : all) {
    NodeCounts counts;
    counts.blocks.push_back(blocks);
    const PathStep path[] = {definitions_.Routine(routine)};
    visitor_.OnNode(at, counts, path, 0);
  }
}

void ChunkEmitter::EmitBlocks(int64_t time) {
  definitions_.blocks().ForEach(
      definitions_.trees(), [this](uint32_t id) { return definitions_.ClassName(id); },
      [this](uint32_t id) { return std::string(model_.RoutineName(definitions_.Routine(id))); },
      [&](std::string_view op, const std::vector<std::string>& args) {
        visitor_.OnNotice({time, ThreadId()}, op, args);
      });
}

// Those that have no record.
void ChunkEmitter::EmitSegments(int64_t time) {
  for (const auto& [string, it] : definitions_.segment_totals()) {
    const auto arg = [](std::string_view key, uint64_t value) {
      return StrCat(key, "=", StreamTime(value));
    };
    const std::vector<std::string> args = {definitions_.Text(string),   arg("count", it.count()),
                                           arg("total", it.total_ns()), arg("min", it.min_ns()),
                                           arg("max", it.max_ns()),     arg("open", it.open())};
    visitor_.OnNotice({time, ThreadId()}, kSegmentsOp, args);
  }
}

void ChunkEmitter::EmitHooks(int64_t time) {
  for (const AgentHooks::Calls& it : definitions_.hooks().calls()) {
    const HookInfo hook = definitions_.Hook(it.hook);
    HookRecord record;
    record.hook = hook.frame;
    record.kind = hook.kind;
    AgentHooks::Callers callers = definitions_.HookCallers(it);
    std::vector<FrameId>& jumped = callers.jumped;
    record.caller = jumped.empty() ? callers.caller : jumped.back();
    // Nodes of the tree are hooked functions only.
    std::erase_if(jumped, [&](FrameId id) { return !model_.IsHooked(model_.frame(id).routine); });
    record.jumped = jumped;
    record.sums = it.sums;
    uint32_t thread = it.thread;
    if (it.node != 0 && !it.position_unknown) record.path = PathOf(it.node, thread);
    visitor_.OnHook(MakeAt(thread, time), record);
  }
}

std::optional<LogPositions::Path> LogPositions::Find(uint32_t thread, uint64_t node) {
  NodePath& position = positions_[thread];
  if (node != 0 && !definitions_.MayStandAt(thread, node)) {
    position.MoveToLost(model_);
    return Path{position.steps(), 0};
  }
  const auto shared = position.MoveTo(static_cast<uint32_t>(node), room_, definitions_, model_);
  if (!shared.has_value()) {
    room_ = 0;
    stats_.Add(Problem::kFarPosition);
    return std::nullopt;
  }
  const size_t steps = position.steps().size() - *shared;
  room_ -= std::min(steps, room_);
  return Path{position.steps(), *shared};
}

void NodePath::Shorten(size_t size) {
  while (steps_.size() > size) {
    size_with_.erase(nodes_.back());
    nodes_.pop_back();
    steps_.pop_back();
  }
}

void NodePath::Append(uint32_t node, PathStep step) {
  nodes_.push_back(node);
  steps_.push_back(step);
  if (node != 0) size_with_[node] = steps_.size();
}

void NodePath::MoveToLost(TraceModel& model) {
  Shorten(0);
  Append(0, model.InternRoutine("[lost]"));
}

std::optional<size_t> NodePath::MoveTo(uint32_t node, size_t most_steps, Definitions& definitions,
                                       TraceModel& model) {
  below_.clear();
  AgentTrees& trees = definitions.trees();
  uint32_t at = trees.KeptNode(node);
  while (at != 0 && !size_with_.contains(at)) {
    if (below_.size() >= most_steps) return std::nullopt;
    below_.push_back(at);
    at = trees.KeptNode(trees.FindNode(at)->parent);
  }
  const size_t shared = at == 0 ? 0 : size_with_[at];
  Shorten(shared);
  for (; !below_.empty(); below_.pop_back()) {
    const std::optional<TreeNode> it = trees.FindNode(below_.back());
    if (it->lost) Append(0, model.InternRoutine("[lost]"));
    Append(below_.back(), PathStep(definitions.Routine(it->routine), it->place));
  }
  return shared;
}

}  // namespace jtrace::postproc
