#include "agent/probes/log_collector.h"

#include <algorithm>

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
  FinishGap(state, /*ended=*/true, visit);
}

void LogCollector::FinishAll(Visit visit) {
  ForEachState([&](const ThreadState& state) {
    while (DrainSome(state, visit)) {
    }
    FinishGap(state, /*ended=*/false, visit);
  });
}

void LogCollector::FinishGap(const ThreadState& state, bool ended, Visit visit) {
  const uint64_t gap = hot::ReadRelaxed(state.log_gap);
  if (gap <= 1 || hot::ReadRelaxed(state.log_ring) == 0) return;  // none, or the log is over
  ops_.clear();
  times_.clear();
  marks_.clear();
  auto& ring = *reinterpret_cast<EventRing*>(hot::ReadRelaxed(state.log_ring));
  const auto ref_of = [&](uint64_t node) {
    return hot::RefOf(arena_, reinterpret_cast<const hot::Node*>(node));
  };
  const bool timed = clock_ != hot::ProbeClock::kNone;
  const uint64_t last = timed ? TimeOf(ring) : 0;
  const uint64_t now = timed ? std::max(last, Now()) : 0;
  AddMark(LogKind::kAt, ref_of(gap), last);
  // The thread goes on counting, and will tell the whole gap.
  const uint64_t dropped = hot::ReadRelaxed(state.log_dropped);
  AddMark(LogKind::kDropped, dropped - std::min(dropped, ring.told), now);
  ring.told = dropped;
  AddMark(LogKind::kAt, ended ? state.root : ref_of(hot::ReadRelaxed(state.current)), now);
  Visited(state, visit);
}

void LogCollector::Visited(const ThreadState& state, Visit visit) {
  if (ops_.empty() && marks_.empty()) return;
  events_ += ops_.size();
  for (const uint32_t op : ops_) calls_ += (op & kExit) == 0;
  for (const LogMark& mark : marks_) dropped_ += mark.kind == LogKind::kDropped ? mark.value : 0;
  visit({state.tid, ops_, times_, marks_, clock_ != hot::ProbeClock::kNone});
}

void LogCollector::BeginRecording() {
  while (Poll([](const LogRun&) {})) {
  }
  // So does what open gaps have left out.
  ForEachRing([](const ThreadState& state, EventRing& ring) {
    ring.told = hot::ReadRelaxed(state.log_gap) > 1 ? hot::ReadRelaxed(state.log_dropped) : 0;
  });
  BeginFile();
  hot::WriteRelaxed(arena_->log_stopped, uint64_t{0});
  events_ = calls_ = dropped_ = dropped_before_file_ = 0;
}

void LogCollector::BeginFile() {
  dropped_before_file_ = dropped_;
  ForEachRing([&](const ThreadState& state, EventRing& ring) {
    const auto next_record = [&] {
      const uint64_t in_lap =
          hot::ReadAcquire(state.log_next) - reinterpret_cast<uintptr_t>(&ring + 1);
      return hot::ReadAcquire(state.log_lap) + in_lap;
    };
    const uint64_t current = hot::ReadAcquire(state.current);
    const bool is_still = next_record() == ring.tail && hot::ReadAcquire(state.current) == current;
    const hot::Ref at = hot::RefOf(arena_, reinterpret_cast<const hot::Node*>(current));
    ring.begins_at = is_still && at != state.root ? at : 0;
  });
}

uint64_t LogCollector::Now() const {
  return clock_ == hot::ProbeClock::kCoarse ? hot::ReadRelaxed(arena_->tick)
                                            : scale_.Monotonic(scale_.Now());
}

uint64_t LogCollector::TimeOf(const EventRing& ring) const {
  return ring.record_bytes == 4 ? ring.time : scale_.Monotonic(ring.time);
}

bool LogCollector::DrainSome(const ThreadState& state, Visit visit) {
  const uint64_t address = hot::ReadAcquire(state.log_ring);
  if (address == 0) return false;
  auto& ring = *reinterpret_cast<EventRing*>(address);
  ops_.clear();
  times_.clear();
  marks_.clear();
  if (ring.time == 0) ring.time = ring.start_ticks;
  const size_t records =
      ring.record_bytes == 4 ? ReadRecords<uint32_t>(ring) : ReadRecords<uint64_t>(ring);
  if (records != 0 && ring.begins_at != 0) {
    marks_.insert(marks_.begin(),
                  {0, LogKind::kAt, ring.begins_at, times_.empty() ? 0 : times_.front()});
    ring.begins_at = 0;
  }
  if (records == 0 && ring.record_bytes == 8) {
    // Nothing was recorded up to now; so that 40 bits are enough however long that lasts.
    constexpr uint64_t kNear = uint64_t{1} << (kTimeBits - 2);
    ring.time = std::max(ring.time, scale_.Now() - std::min(scale_.Now(), kNear));
  }
  Visited(state, visit);
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
  ops_.push_back(record);
  if (clock_ != hot::ProbeClock::kNone) times_.push_back(ring.time);
}

void LogCollector::Take(EventRing& ring, uint64_t record) {
  const auto op = static_cast<uint32_t>(record) & kOpMask;
  const uint64_t upper = record >> hot::kOpBits;
  if (op >> 2 == 0) return TakeKind(ring, static_cast<LogKind>(op), upper);
  MoveTime(ring, upper);
  ops_.push_back(op);
  const uint64_t time = TimeOf(ring);
  times_.push_back(times_.empty() ? time : std::max(time, times_.back()));
}

// To the moment next to the last record's whose low bits are these.
void LogCollector::MoveTime(EventRing& ring, uint64_t low_bits) {
  const uint64_t passed = (low_bits - ring.time) & ((uint64_t{1} << kTimeBits) - 1);
  if (passed < uint64_t{1} << (kTimeBits - 1)) ring.time += passed;
}

void LogCollector::TakeKind(EventRing& ring, LogKind kind, uint64_t value) {
  switch (kind) {
    case LogKind::kTime:
      if (ring.record_bytes == 8) {
        MoveTime(ring, value);
      } else {
        ring.time += value * 1000;
      }
      break;
    case LogKind::kDropped: {
      const uint64_t told = std::min(value, ring.told);
      ring.told -= told;
      AddMark(kind, value - told, clock_ == hot::ProbeClock::kNone ? 0 : TimeOf(ring));
      break;
    }
    case LogKind::kAt:
      AddMark(kind, value, clock_ == hot::ProbeClock::kNone ? 0 : TimeOf(ring));
      break;
    case LogKind::kOff:
      AddOff(scale_.Nanos(value));
      break;
  }
}

// A time too long for one record comes in several.
void LogCollector::AddOff(uint64_t nanos) {
  const bool continues =
      !marks_.empty() && marks_.back().kind == LogKind::kOff && marks_.back().index == ops_.size();
  if (continues) {
    marks_.back().value += nanos;
  } else {
    AddMark(LogKind::kOff, nanos, 0);
  }
}

void LogCollector::AddMark(LogKind kind, uint64_t value, uint64_t time) {
  marks_.push_back({static_cast<uint32_t>(ops_.size()), kind, value, time});
}

}  // namespace jtrace
