// The begin and the end of a recording or of one of its files.
#include <algorithm>
#include <utility>

#include "agent/probes/log_collector.h"
#include "agent/probes/log_reader_position.h"

namespace jtrace {

using hot::LogKind;
using hot::ThreadState;

void LogCollector::EndFile(bool is_last, Visit visit) {
  if (is_last) {
    stalled_ = stalled();
    EndWaits();
  }
  ForEachState([&](ThreadState& state) {
    if (hot::HasLog(state)) EndFileOf(state, is_last, visit);
  });
}

void LogCollector::EndFileOf(ThreadState& state, bool is_last, Visit visit) {
  // Records after those that are there now are later than this.
  const uint64_t now = NowTicks();
  DrainToNow(state, visit);
  Reader& reader = ReaderOf(state);
  const uint64_t in_gap = hot::ReadAcquire(state.log_gap);
  if (in_gap > 1) {
    const Gap gap = OpenGap(state);
    const bool wanted = is_last || clock_ != hot::ProbeClock::kCpu;
    if (gap.gap != 0 && wanted) FinishGap(state, gap, RefOf(gap.current), now, visit);
    return;
  }
  if (in_gap == 1 || clock_ == hot::ProbeClock::kCpu || now <= reader.time) return;
  Locate(state, reader);
  const uint64_t since = TimeOf(reader);
  BeginRun(reader);
  reader.time = now;
  if (IsInside(state, reader)) {
    AddMark(LogKind::kAt, reader.at, TimeOf(reader));
    reader.seen = reader.at;
  }
  EndRun(state, since, visit);
}

// A running thread may record faster than it is read.
void LogCollector::DrainToNow(ThreadState& state, Visit visit) {
  // As many as the rings of a thread hold, and a few.
  constexpr size_t kRuns =
      hot::ChunkBytes(hot::kLastRingClass) / sizeof(uint32_t) / kRunRecords + 2;
  for (size_t run = 0; run < kRuns && DrainSome(state, visit); ++run) {
  }
}

void LogCollector::FinishGap(const ThreadState& state, const Gap& gap, hot::Ref goes_on,
                             uint64_t now, Visit visit) {
  Reader& reader = ReaderOf(state);
  const uint64_t since = TimeOf(reader);
  BeginRun(reader);
  AddMark(LogKind::kAt, RefOf(gap.gap), since);
  reader.time = std::max(reader.time, now);
  // The thread continues to count, and will report the whole gap.
  AddMark(LogKind::kDropped, gap.dropped - std::min(gap.dropped, reader.reported), TimeOf(reader));
  reader.reported = gap.dropped;
  AddMark(LogKind::kAt, goes_on, TimeOf(reader));
  reader.at = RefOf(gap.gap);
  reader.seen = goes_on;
  EndRun(state, since, visit);
}

void LogCollector::BeginRecording(bool follow, CallKinds kinds) {
  EndWaits();
  stalled_ = false;
  const absl::flat_hash_map<uint64_t, Reader> before = std::exchange(readers_, {});
  ForEachState([&](ThreadState& state) {
    if (!hot::HasLog(state)) return;
    // Threads that ended since then are left out.
    if (const auto known = before.find(state.tid); known != before.end()) readers_.insert(*known);
    DrainToNow(state, [](const LogRun&) {});
    Reader& reader = ReaderOf(state);
    Locate(state, reader);
    // So do the calls that open gaps have left out.
    reader.reported = hot::ReadRelaxed(state.log_gap) > 1 ? hot::ReadRelaxed(state.log_dropped) : 0;
    reader.time = std::max(reader.time, NowTicks());
    reader.off = 0;
  });
  kinds_ = std::move(kinds);
  follows_ = follow || !kinds_.all();
  BeginFile();
  hot::WriteRelaxed(arena_->log_stopped, uint64_t{0});
  events_ = calls_ = dropped_ = dropped_before_file_ = 0;
}

void LogCollector::BeginFile() {
  dropped_before_file_ = dropped_;
  waited_before_ = hot::ReadRelaxed(arena_->log_waited);
  ForEachState([this](const ThreadState& state) {
    if (!hot::HasLog(state)) return;
    Reader& reader = ReaderOf(state);
    const Gap gap = OpenGap(state);
    if (gap.gap != 0) reader.at = RefOf(gap.gap);
    reader.begins_at = IsInside(state, reader) ? reader.at : 0;
    // Readers of the file begin at the root.
    reader.seen = state.root;
  });
}

void LogCollector::Locate(const ThreadState& state, Reader& reader) const {
  if (follows_) return;
  const uint64_t current = hot::ReadAcquire(state.current);
  const bool is_still = IsRead(state) && hot::ReadAcquire(state.current) == current;
  reader.at = is_still ? RefOf(current) : hot::RefOf(arena_, &arena_->lost_node);
}

bool LogCollector::IsInside(const ThreadState& state, const Reader& reader) const {
  return reader.at != state.root && LogReaderPosition(arena_, reader.at).is_known();
}

}  // namespace jtrace
