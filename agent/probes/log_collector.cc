#include "agent/probes/log_collector.h"

#include <algorithm>

#include "agent/probes/log_reader_position.h"

namespace jtrace {
namespace {

using hot::EventRing;
using hot::LogKind;
using hot::ThreadState;

constexpr uint32_t kExit = 2;
constexpr uint32_t kOpMask = (1u << hot::kOpBits) - 1;
constexpr int kTimeBits = 64 - hot::kOpBits;

template <typename Word>
Word* Storage(EventRing& ring) {
  return reinterpret_cast<Word*>(&ring + 1);
}

// Whether the record at `index`, which reads 0, will never be written: a later one has been. Holes
// in a row are rare, and searched for only so far.
template <typename Word>
bool IsHole(EventRing& ring, uint64_t index) {
  constexpr int kLookAhead = 16;
  const uint64_t count = ring.bytes / sizeof(Word);
  for (int i = 1; i <= kLookAhead; ++i) {
    if (hot::ReadAcquire(Storage<Word>(ring)[(index + i) % count]) != 0) {
      return hot::ReadAcquire(Storage<Word>(ring)[index]) == 0;
    }
  }
  return false;
}

}  // namespace

template <typename Action>
void LogCollector::ForEachState(Action action) {
  for (const hot::Ref& bucket : arena_->buckets) {
    for (hot::Ref ref = hot::ReadAcquire(bucket); ref != 0;) {
      const auto& state = *hot::At<ThreadState>(arena_, ref);
      action(state);
      ref = hot::ReadRelaxed(state.next);
    }
  }
}

template <typename Action>
void LogCollector::ForEachRing(Action action) {
  ForEachState([&](const ThreadState& state) {
    const uint64_t address = hot::ReadAcquire(state.log_ring);
    if (address != 0) action(state, *reinterpret_cast<EventRing*>(address));
  });
}

bool LogCollector::Poll(Visit visit) {
  bool more = false;
  ForEachState([&](const ThreadState& state) { more |= DrainSome(state, visit); });
  return more;
}

void LogCollector::Finish(const ThreadState& state, Visit visit) {
  while (DrainSome(state, visit)) {
  }
  if (hot::ReadRelaxed(state.log_ring) == 0) return;
  auto& ring = *reinterpret_cast<EventRing*>(hot::ReadRelaxed(state.log_ring));
  const Gap gap = OpenGap(state, ring);
  if (gap.gap != 0) FinishGap(state, gap, state.root, NowTicks(), visit);
}

void LogCollector::EndFile(bool is_last, Visit visit) {
  ForEachRing(
      [&](const ThreadState& state, EventRing& ring) { EndFileOf(state, ring, is_last, visit); });
}

void LogCollector::EndFileOf(const ThreadState& state, EventRing& ring, bool is_last, Visit visit) {
  // Records behind those that stand there now are later than this.
  const uint64_t now = NowTicks();
  DrainToNow(state, ring, visit);
  const uint64_t in_gap = hot::ReadAcquire(state.log_gap);
  if (in_gap > 1) {
    const Gap gap = OpenGap(state, ring);
    const bool wanted = is_last || clock_ != hot::ProbeClock::kCpu;
    if (gap.gap != 0 && wanted) FinishGap(state, gap, RefOf(gap.current), now, visit);
    return;
  }
  if (in_gap == 1 || clock_ == hot::ProbeClock::kCpu || now <= ring.time) return;
  Locate(state, ring);
  const uint64_t since = TimeOf(ring);
  BeginRun(ring);
  ring.time = now;
  if (IsInside(state, ring)) AddMark(LogKind::kAt, ring.at, TimeOf(ring));
  EndRun(state, since, visit);
}

// A thread that runs on may record faster than it is read.
void LogCollector::DrainToNow(const ThreadState& state, EventRing& ring, Visit visit) {
  const uint64_t end = NextRecord(state);
  while (DrainSome(state, visit) && ring.tail < end) {
  }
}

LogCollector::Gap LogCollector::OpenGap(const ThreadState& state, const EventRing& ring) const {
  Gap open;
  open.gap = hot::ReadAcquire(state.log_gap);
  if (open.gap <= 1) return {};  // none, or the log is over
  open.dropped = hot::ReadAcquire(state.log_dropped);
  open.current = hot::ReadAcquire(state.current);
  // The first thing that a thread does at a gap's end is to record it.
  return NextRecord(state) == ring.tail ? open : Gap{};
}

void LogCollector::FinishGap(const ThreadState& state, const Gap& gap, hot::Ref goes_on,
                             uint64_t now, Visit visit) {
  auto& ring = *reinterpret_cast<EventRing*>(hot::ReadRelaxed(state.log_ring));
  const uint64_t since = TimeOf(ring);
  BeginRun(ring);
  AddMark(LogKind::kAt, RefOf(gap.gap), since);
  ring.time = std::max(ring.time, now);
  // The thread goes on counting, and will tell the whole gap.
  AddMark(LogKind::kDropped, gap.dropped - std::min(gap.dropped, ring.told), TimeOf(ring));
  ring.told = gap.dropped;
  AddMark(LogKind::kAt, goes_on, TimeOf(ring));
  ring.at = RefOf(gap.gap);
  EndRun(state, since, visit);
}

void LogCollector::BeginRun(EventRing& ring) {
  ops_.clear();
  times_.clear();
  marks_.clear();
  if (ring.begins_at != 0) AddMark(LogKind::kAt, ring.begins_at, TimeOf(ring));
  ring.begins_at = 0;
}

void LogCollector::EndRun(const ThreadState& state, uint64_t since, Visit visit) {
  if (ops_.empty() && marks_.empty()) return;
  events_ += ops_.size();
  for (const uint32_t op : ops_) calls_ += (op & kExit) == 0;
  for (const LogMark& mark : marks_) dropped_ += mark.kind == LogKind::kDropped ? mark.value : 0;
  visit({state.tid, ops_, times_, marks_, timed(), since});
}

void LogCollector::BeginRecording(bool follow) {
  ForEachRing([this](const ThreadState& state, EventRing& ring) {
    DrainToNow(state, ring, [](const LogRun&) {});
    Locate(state, ring);
    // So does what open gaps have left out.
    ring.told = hot::ReadRelaxed(state.log_gap) > 1 ? hot::ReadRelaxed(state.log_dropped) : 0;
    ring.time = std::max(ring.time, NowTicks());
    ring.off = 0;
  });
  follows_ = follow;
  BeginFile();
  hot::WriteRelaxed(arena_->log_stopped, uint64_t{0});
  events_ = calls_ = dropped_ = dropped_before_file_ = 0;
}

void LogCollector::BeginFile() {
  dropped_before_file_ = dropped_;
  ForEachRing([this](const ThreadState& state, EventRing& ring) {
    Meet(state, ring);
    const Gap gap = OpenGap(state, ring);
    if (gap.gap != 0) ring.at = RefOf(gap.gap);
    ring.begins_at = IsInside(state, ring) ? ring.at : 0;
  });
}

void LogCollector::Meet(const ThreadState& state, EventRing& ring) {
  if (ring.at != 0) return;
  ring.at = state.root;
  ring.time = ring.near = ring.start_ticks;
  ring.time_high = ring.start_ticks / 1000 >> hot::kOpBits;
}

void LogCollector::Locate(const ThreadState& state, EventRing& ring) const {
  if (follows_) return;
  const uint64_t current = hot::ReadAcquire(state.current);
  const bool is_still =
      NextRecord(state) == ring.tail && hot::ReadAcquire(state.current) == current;
  ring.at = is_still ? RefOf(current) : hot::RefOf(arena_, &arena_->lost_node);
}

bool LogCollector::IsInside(const ThreadState& state, const EventRing& ring) const {
  return ring.at != state.root && LogReaderPosition(arena_, ring.at).is_known();
}

uint64_t LogCollector::NextRecord(const ThreadState& state) const {
  const uint64_t in_lap =
      hot::ReadAcquire(state.log_next) - (hot::ReadRelaxed(state.log_ring) + sizeof(EventRing));
  return hot::ReadAcquire(state.log_lap) + in_lap;
}

uint64_t LogCollector::NowTicks() const {
  if (!timed()) return 0;
  return clock_ == hot::ProbeClock::kCoarse ? hot::ReadRelaxed(arena_->tick) : scale_.Now();
}

uint64_t LogCollector::TimeOf(const EventRing& ring) const {
  if (!timed()) return 0;
  return ring.record_bytes == 4 ? ring.time : scale_.Monotonic(ring.time);
}

bool LogCollector::DrainSome(const ThreadState& state, Visit visit) {
  const uint64_t address = hot::ReadAcquire(state.log_ring);
  if (address == 0) return false;
  auto& ring = *reinterpret_cast<EventRing*>(address);
  Meet(state, ring);
  const uint64_t since = TimeOf(ring);
  const hot::Ref begins_at = ring.begins_at;
  BeginRun(ring);
  const size_t records =
      ring.record_bytes == 4 ? ReadRecords<uint32_t>(ring) : ReadRecords<uint64_t>(ring);
  if (records == 0) {
    marks_.clear();
    ring.begins_at = begins_at;
    // So that the bits of a record are enough however long it takes to come.
    constexpr uint64_t kNear = uint64_t{1} << (kTimeBits - 2);
    if (ring.record_bytes == 8) {
      ring.near = std::max(ring.near, scale_.Now() - std::min(scale_.Now(), kNear));
    }
  }
  EndRun(state, since, visit);
  return records == kRunRecords;
}

template <typename Word>
size_t LogCollector::ReadRecords(EventRing& ring) {
  Word* const words = Storage<Word>(ring);
  const uint64_t count = ring.bytes / sizeof(Word);
  uint64_t index = ring.tail % ring.bytes / sizeof(Word);
  size_t records = 0;
  for (; records < kRunRecords; ++records) {
    const Word record = hot::ReadAcquire(words[index]);
    if (record != 0) {
      hot::WriteRelaxed(words[index], Word{0});
      Take(ring, record);
    } else if (!IsHole<Word>(ring, index)) {
      break;
    }
    if (++index == count) index = 0;
  }
  // The producer reads it before it uses the room again, which is all zeroes by then.
  hot::WriteRelease(ring.tail, ring.tail + records * sizeof(Word));
  return records;
}

void LogCollector::Take(EventRing& ring, uint32_t record) {
  if ((record & hot::kAtBit) != 0) return TakeKind(ring, LogKind::kAt, record & ~hot::kAtBit);
  if (record > kOpMask) {
    return TakeKind(ring, static_cast<LogKind>(record >> hot::kOpBits), record & kOpMask);
  }
  TakeOp(ring, record);
  if (timed()) times_.push_back(ring.time);
}

void LogCollector::Take(EventRing& ring, uint64_t record) {
  const auto op = static_cast<uint32_t>(record) & kOpMask;
  const uint64_t upper = record >> hot::kOpBits;
  if (op >> 2 == 0) return TakeKind(ring, static_cast<LogKind>(op), upper);
  TellOff(ring);
  MoveTime(ring, upper);
  TakeOp(ring, op);
  const uint64_t time = TimeOf(ring);
  times_.push_back(times_.empty() ? time : std::max(time, times_.back()));
}

void LogCollector::TakeOp(EventRing& ring, uint32_t op) {
  ops_.push_back(op);
  if (!follows_) return;
  LogReaderPosition reader(arena_, ring.at);
  if ((op & kExit) != 0) {
    reader.Exit(op >> 2);
  } else {
    reader.Enter(op >> 2);
  }
  ring.at = reader.at();
}

// To the moment next to the last record's whose low bits are these.
void LogCollector::MoveTime(EventRing& ring, uint64_t low_bits) {
  const uint64_t passed = (low_bits - ring.near) & ((uint64_t{1} << kTimeBits) - 1);
  if (passed < uint64_t{1} << (kTimeBits - 1)) ring.near += passed;
  ring.time = std::max(ring.time, ring.near);
}

void LogCollector::TakeKind(EventRing& ring, LogKind kind, uint64_t value) {
  switch (kind) {
    case LogKind::kTime:
      if (ring.record_bytes == 8) {
        TellOff(ring);
        MoveTime(ring, value);
      } else {
        ring.time = std::max(ring.time, (ring.time_high << hot::kOpBits | value) * 1000);
      }
      break;
    case LogKind::kTimeHigh:
      ring.time_high = value;
      break;
    case LogKind::kDropped: {
      const uint64_t told = std::min(value, ring.told);
      ring.told -= told;
      AddMark(kind, value - told, TimeOf(ring));
      break;
    }
    case LogKind::kAt:
      ring.at = static_cast<hot::Ref>(value);
      AddMark(kind, value, TimeOf(ring));
      break;
    case LogKind::kOff:
      // Several, if the time is too long for one.
      ring.off += scale_.Nanos(value);
      break;
  }
}

// Once the next record's time is known: positions may stand between that have the last one's.
void LogCollector::TellOff(EventRing& ring) {
  if (ring.off != 0) AddMark(LogKind::kOff, ring.off, 0);
  ring.off = 0;
}

void LogCollector::AddMark(LogKind kind, uint64_t value, uint64_t time) {
  marks_.push_back({static_cast<uint32_t>(ops_.size()), kind, value, time});
}

}  // namespace jtrace
