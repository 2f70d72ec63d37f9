#include "postproc/reader/chunk_plan.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "proto/trace_format.h"

namespace jtrace::postproc {
namespace {

// A run ends at a mark, before an event or sample of the thread, and where calls depend on what was
// open before it.
class LogRunFinder {
 public:
  LogRunFinder(ThreadLogs& logs, CallReducer& reducer, LeastRun least)
      : logs_(logs), reducer_(reducer), least_(least), cursors_(logs.cursors) {}

  // Adds the runs of calls that are not later than `until`, from where the last call stopped.
  void FindUntil(int64_t until);

 private:
  void FindOne(int64_t until);
  bool Reduce(int64_t until);
  bool FindMoreCalls(int64_t until);
  bool AtCalls(int64_t until);
  LogCursor& cursor() { return cursors_[log_]; }

  // After that many further runs that were not worth making, no more are tried.
  static constexpr int kPatience = 64;

  ThreadLogs& logs_;
  CallReducer& reducer_;
  const LeastRun least_;
  std::vector<LogCursor> cursors_;
  size_t log_ = 0;
  int patience_ = kPatience;
  std::vector<LogCall> calls_;
};

// Moves on through undamaged ends of logs to further calls; false if something else is first.
bool LogRunFinder::FindMoreCalls(int64_t until) {
  while (cursor().AtEnd() && !cursor().damaged() && log_ + 1 < cursors_.size()) ++log_;
  return AtCalls(until);
}

bool LogRunFinder::AtCalls(int64_t until) {
  return !cursor().AtEnd() && cursor().time() <= until && !cursor().AtMark();
}

// True if the calls end before something else, false if one of them ends the run.
bool LogRunFinder::Reduce(int64_t until) {
  do {
    const LogCursor before = cursor();
    calls_.clear();
    cursor().Take(until, LogCursor::kCallsAtOnce, calls_);
    const size_t taken = reducer_.Add(calls_);
    if (taken == calls_.size()) continue;
    cursor() = before;
    calls_.clear();
    cursor().Take(until, taken, calls_);
    return false;
  } while (FindMoreCalls(until));
  return true;
}

void LogRunFinder::FindOne(int64_t until) {
  LogRun run;
  run.log = log_;
  run.ops_left = cursor().ops_left();
  reducer_.Begin(cursor().time());
  const bool all = Reduce(until);
  const ReducedCalls& reduced = reducer_.run();
  const auto nodes = static_cast<int64_t>(reduced.nodes.size());
  if (reduced.calls() >= least_.calls && reduced.calls() >= least_.calls_a_node * nodes) {
    run.end_log = log_;
    run.end = cursor();
    run.calls = reducer_.Take();
    logs_.runs.push_back(std::move(run));
    patience_ = std::min(patience_ + 1, kPatience);
  } else {
    --patience_;
  }
  // A run begins where the emitter of calls stops by itself.
  while (!all && AtCalls(until)) {
    calls_.clear();
    cursor().Take(until, LogCursor::kCallsAtOnce, calls_);
  }
}

void LogRunFinder::FindUntil(int64_t until) {
  while (log_ < cursors_.size() && patience_ > 0) {
    if (cursor().AtEnd()) {
      ++log_;
    } else if (cursor().time() > until) {
      return;
    } else if (cursor().AtMark()) {
      cursor().TakeMark();
    } else {
      FindOne(until);
    }
  }
}

}  // namespace

void ChunkPlan::CollectLogs(const std::vector<std::string_view>& logs) {
  logs_.clear();
  log_threads_.clear();
  for (const std::string_view bytes : logs) {
    LogCursor cursor(bytes);
    auto [entry, inserted] = logs_.try_emplace(cursor.thread());
    if (inserted) log_threads_.push_back(cursor.thread());
    entry->second.cursors.push_back(std::move(cursor));
  }
}

void ChunkPlan::CollectEvents(const proto::Chunk& chunk) {
  absl::flat_hash_map<uint32_t, int64_t> latest;  // by thread
  for (int i = 0; i < chunk.event_size(); ++i) {
    const proto::Event& event = chunk.event(i);
    int64_t& time = latest[event.thread()];
    if (event.thread() == 0) time = 0;
    time = std::max(time, StreamTime(event.time_ns()));
    items_.push_back({time, Source::kEvent, i, event.thread()});
  }
}

void ChunkPlan::CollectSamples(const proto::Chunk& chunk) {
  for (int i = 0; i < chunk.sample_size(); ++i) {
    const proto::Sample& sample = chunk.sample(i);
    items_.push_back({StreamTime(sample.time_ns()), Source::kSample, i, sample.thread()});
  }
}

void ChunkPlan::Make(const ChunkPayload& payload) {
  items_.clear();
  CollectLogs(payload.logs());
  CollectEvents(payload.chunk());
  CollectSamples(payload.chunk());
  std::stable_sort(items_.begin(), items_.end(),
                   [](const Item& a, const Item& b) { return a.time < b.time; });
}

void ChunkPlan::Reduce(CallReducer& reducer, LeastRun least) {
  if (logs_.empty()) return;
  absl::flat_hash_map<uint32_t, std::vector<int64_t>> stops;  // by thread
  for (const Item& item : items_) {
    if (logs_.contains(item.thread)) stops[item.thread].push_back(item.time);
  }
  for (const uint32_t thread : log_threads_) {
    LogRunFinder finder(logs_[thread], reducer, least);
    for (const int64_t stop : stops[thread]) finder.FindUntil(stop);
    finder.FindUntil(std::numeric_limits<int64_t>::max());
  }
}

void CallReducer::Begin(int64_t time) {
  run_ = {};
  open_.clear();
  children_.clear();
  run_.first_time = run_.last_time = time;
  AddOutside();
}

void CallReducer::AddOutside() {
  run_.outside.push_back(static_cast<uint32_t>(run_.nodes.size()));
  run_.nodes.emplace_back();
}

inline void CallReducer::Advance(int64_t time) {
  if (time <= run_.last_time) return;
  const int64_t passed = time - run_.last_time;
  run_.last_time = time;
  run_.nodes[current()].base += passed;
  if (!open_.empty()) open_.back().base += passed;
}

uint32_t CallReducer::Child(uint32_t parent, RoutineId routine) {
  const uint64_t key = uint64_t{parent} << 32 | routine.value;
  const auto [entry, inserted] =
      children_.try_emplace(key, static_cast<uint32_t>(run_.nodes.size()));
  if (inserted) {
    ReducedCalls::Node& child = run_.nodes.emplace_back();
    child.routine = routine;
    child.parent = parent;
  }
  return entry->second;
}

inline void CallReducer::Enter(RoutineId routine, bool jitted) {
  const uint32_t parent = current();
  const uint32_t recent = run_.nodes[parent].recent_child;
  uint32_t child = recent;
  if (recent == ReducedCalls::kNoNode || run_.nodes[recent].routine != routine) {
    child = recent == ReducedCalls::kNoNode ? recent : run_.nodes[recent].follower;
    if (child == ReducedCalls::kNoNode || run_.nodes[child].routine != routine) {
      child = Child(parent, routine);
      if (recent != ReducedCalls::kNoNode) run_.nodes[recent].follower = child;
    }
    run_.nodes[parent].recent_child = child;
  }
  ReducedCalls::Node& node = run_.nodes[child];
  ++node.calls;
  node.calls_jitted += jitted;
  open_.push_back({child, 0});
}

inline void CallReducer::CloseInnermost() {
  const ReducedCalls::Open& innermost = open_.back();
  ReducedCalls::Node& node = run_.nodes[innermost.node];
  node.min_base = std::min(node.min_base, innermost.base);
  node.max_base = std::max(node.max_base, innermost.base);
  open_.pop_back();
}

// False, with nothing changed, if it is not known what it ends.
inline bool CallReducer::Exit(RoutineId routine, int64_t time) {
  if (open_.empty()) {
    Advance(time);
    run_.nodes[run_.outside.back()].routine = routine;
    AddOutside();
    return true;
  }
  if (run_.nodes[open_.back().node].routine == routine) {
    Advance(time);
    CloseInnermost();
    return true;
  }
  const auto innermost = std::find_if(
      open_.rbegin(), open_.rend(),
      [&](const ReducedCalls::Open& it) { return run_.nodes[it.node].routine == routine; });
  if (innermost == open_.rend()) return false;
  Advance(time);
  for (auto closing = innermost - open_.rbegin() + 1; closing > 0; --closing) CloseInnermost();
  return true;
}

size_t CallReducer::Add(absl::Span<const LogCall> calls) {
  for (size_t i = 0; i < calls.size(); ++i) {
    const LogCall& call = calls[i];
    const RoutineId routine = definitions_.KnownRoutine(call.op >> format::kLogRoutineShift);
    if (!routine) return i;
    const bool jitted = (call.op & format::kLogJitted) != 0;
    if ((call.op & format::kLogExit) != 0) {
      if (!Exit(routine, call.time)) return i;
      ++run_.exits[jitted];
    } else {
      Advance(call.time);
      Enter(routine, jitted);
      ++run_.enters[jitted];
    }
  }
  return calls.size();
}

ReducedCalls CallReducer::Take() {
  run_.open = std::move(open_);
  return std::move(run_);
}

}  // namespace jtrace::postproc
