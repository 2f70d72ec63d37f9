#include "postproc/reader/log_run_finder.h"

#include <algorithm>
#include <utility>

namespace jtrace::postproc {
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

}  // namespace jtrace::postproc
