#include "agent/calls/logs/log_collector.h"

#include <algorithm>
#include <utility>

#include "agent/calls/trees/log_rings.h"
#include "agent/calls/trees/node_search.h"

namespace jtrace::calls {

using signal_safe::At;
using signal_safe::LogRecordKind;
using signal_safe::LogRing;
using signal_safe::Node;
using signal_safe::Ref;
using signal_safe::ThreadState;

namespace {

constexpr uint32_t kJitted = 1;
constexpr uint32_t kExit = 2;
constexpr uint32_t kOpMask = (1u << signal_safe::kOpBits) - 1;
constexpr int kTimeBits = 64 - signal_safe::kOpBits;

template <typename Word>
Word* Storage(LogRing& ring) {
  return reinterpret_cast<Word*>(&ring + 1);
}

// Whether the record at `index`, which reads 0, will never be written: one of the `ahead` records
// after it has been.
template <typename Word>
bool IsHole(LogRing& ring, uint64_t index, uint64_t ahead) {
  const uint64_t count = ring.bytes / sizeof(Word);
  for (uint64_t i = 1; i <= std::min(ahead, count - 1); ++i) {
    if (signal_safe::ReadAcquire(Storage<Word>(ring)[(index + i) % count]) != 0) {
      return signal_safe::ReadAcquire(Storage<Word>(ring)[index]) == 0;
    }
  }
  return false;
}

// The node that the reader of a thread's log has reached, record by record.
//
// Follows records through the thread's tree, as readers of the trace do. The tree has the node of a
// call before the log has its record. The thread itself is ahead by the records in its rings. On
// the writer thread; the tree may grow at the same time.
class LogPosition {
 public:
  LogPosition(const signal_safe::Arena* arena, Ref at) : arena_(arena), at_(at) {}

  Ref at() const { return at_; }
  // Whether the position is a node of the tree. After records that do not fit the tree it is
  // Arena::sink_node, which has no children, until MoveTo.
  bool is_known() const { return at_ != Lost(); }
  void MoveTo(Ref node) { at_ = node; }
  void Enter(uint32_t routine) {
    const Node& node = *At<Node>(arena_, at_);
    const Ref child = FindChild(arena_, node, routine);
    at_ = child != 0 ? child : Lost();
  }
  void Exit(uint32_t routine) {
    const Node& node = *At<Node>(arena_, at_);
    at_ = node.routine == routine ? node.parent : Caller(routine);
  }

 private:
  Ref Lost() const { return RefOf(arena_, &arena_->sink_node); }
  // Returns the caller of the routine's innermost open activation; the position if there is none.
  Ref Caller(uint32_t routine) const;

  const signal_safe::Arena* arena_;
  Ref at_;
};

Ref LogPosition::Caller(uint32_t routine) const {
  for (Ref ref = at_; ref != 0; ref = At<Node>(arena_, ref)->parent) {
    const Node& node = *At<Node>(arena_, ref);
    if (node.routine == routine) return node.parent;
  }
  return at_;
}

}  // namespace

LogCollector::Reader& LogCollector::ReaderOf(const ThreadState& state) {
  const auto [entry, is_new] = readers_.try_emplace(state.java_tid);
  Reader& reader = entry->second;
  if (!is_new) return reader;
  const LogRing* ring = RingToRead(state);
  // A thread without a ring has recorded no time since it got its state.
  const uint64_t start =
      ring != nullptr ? ring->start_ticks : signal_safe::ReadRelaxed(state.log_time);
  reader.at = reader.seen = state.root;
  reader.time = reader.near = start;
  reader.time_high = start / 1000 >> signal_safe::kOpBits;
  reader.is_wide =
      clock_ != signal_safe::ProbeClock::kNone && clock_ != signal_safe::ProbeClock::kCoarse;
  return reader;
}

bool LogCollector::Poll(Visit visit) {
  bool more = false;
  ForEachState([&](ThreadState& state) {
    if (signal_safe::ReadAcquire(state.ended) != 0) {
      Finish(state, visit);
    } else {
      more |= DrainSome(state, visit);
    }
  });
  return more;
}

void LogCollector::Finish(const ThreadState& ended, Visit visit) {
  auto& state = *signal_safe::At<ThreadState>(arena_, signal_safe::RefOf(arena_, &ended));
  if (!signal_safe::HasLog(state)) return;
  while (DrainSome(state, visit)) {
  }
  const Gap gap = OpenGap(state);
  if (gap.gap != 0) FinishGap(state, gap, state.root, NowTicks(), visit);
  FreeRings(arena_, state);
  signal_safe::WriteRelaxed(state.log_gap, uint64_t{1});
  readers_.erase(state.java_tid);
}

bool LogCollector::IsRead(const ThreadState& state) {
  const LogRing* ring = RingToRead(state);
  return ring == nullptr ||
         (!HasSwitchedRing(state, *ring) && NextRecord(state, *ring) == ring->tail &&
          !HasSwitchedRing(state, *ring));
}

LogCollector::Gap LogCollector::OpenGap(const ThreadState& state) const {
  Gap open;
  open.gap = signal_safe::ReadAcquire(state.log_gap);
  if (open.gap <= 1) return {};  // none, or the log is over
  open.dropped = signal_safe::ReadAcquire(state.log_dropped);
  open.current = signal_safe::ReadAcquire(state.current);
  // A thread that leaves a gap first writes records. If none is unread, the gap is still open.
  return IsRead(state) ? open : Gap{};
}

void LogCollector::BeginRun(Reader& reader) {
  ops_.clear();
  times_.clear();
  controls_.clear();
  if (reader.begins_at != 0) {
    AddControl(LogRecordKind::kAt, reader.begins_at, TimeOf(reader));
    reader.seen = reader.begins_at;
  }
  reader.begins_at = 0;
}

void LogCollector::EndRun(const ThreadState& state, uint64_t since, Visit visit) {
  if (ops_.empty() && controls_.empty()) return;
  events_ += ops_.size();
  for (const uint32_t op : ops_) calls_ += (op & kExit) == 0;
  for (const LogControl& it : controls_)
    dropped_ += it.kind == LogRecordKind::kDropped ? it.value : 0;
  visit({state.java_tid, ops_, times_, controls_, timed(), since});
}

uint64_t LogCollector::NowTicks() const {
  if (!timed()) return 0;
  return clock_ == signal_safe::ProbeClock::kCoarse ? signal_safe::ReadRelaxed(arena_->tick)
                                                    : scale_.Now();
}

uint64_t LogCollector::TimeOf(const Reader& reader) const {
  if (!timed()) return 0;
  return reader.is_wide ? scale_.Monotonic(reader.time) : reader.time;
}

bool LogCollector::DrainSome(ThreadState& state, Visit visit) {
  if (RingToRead(state) == nullptr) return false;
  Reader& reader = ReaderOf(state);
  const uint64_t since = TimeOf(reader);
  const signal_safe::Ref begins_at = reader.begins_at;
  BeginRun(reader);
  const size_t records = ReadRings(state, reader);
  if (records == 0) {
    controls_.clear();
    reader.begins_at = begins_at;
    // Keeps `near` so close to now that a record's low bits suffice, however late it arrives.
    constexpr uint64_t kNear = uint64_t{1} << (kTimeBits - 2);
    if (reader.is_wide) {
      reader.near = std::max(reader.near, scale_.Now() - std::min(scale_.Now(), kNear));
    }
  }
  EndRun(state, since, visit);
  return records == kRunRecords;
}

size_t LogCollector::ReadRings(ThreadState& state, Reader& reader) {
  LogRing* ring = RingToRead(state);
  for (size_t records = 0;;) {
    // Checked before reading: a thread that has left the ring writes no more records to it.
    const bool has_left = HasSwitchedRing(state, *ring);
    const size_t most = kRunRecords - records;
    records += ring->record_bytes == 4 ? ReadRecords<uint32_t>(state, *ring, most, reader)
                                       : ReadRecords<uint64_t>(state, *ring, most, reader);
    if (!has_left || records == kRunRecords) return records;
    ring = &NextRing(arena_, state, *ring);
  }
}

// Copies entries and exits up to another kind of record, or the end of what is written.
template <typename Word>
uint64_t LogCollector::ReadPlain(Word* words, uint64_t most) {
  uint64_t read = 0;
  for (; read < most; ++read) {
    const Word record = signal_safe::ReadAcquire(words[read]);
    if (record == 0 || record > kOpMask) break;
    signal_safe::WriteRelaxed(words[read], Word{0});
    ops_.push_back(static_cast<uint32_t>(record));
  }
  return read;
}

template <typename Word>
size_t LogCollector::ReadRecords(const ThreadState& state, LogRing& ring, size_t most,
                                 Reader& reader) {
  Word* const words = Storage<Word>(ring);
  const uint64_t count = ring.bytes / sizeof(Word);
  uint64_t index = ring.tail % ring.bytes / sizeof(Word);
  size_t records = 0;
  // How many records the thread has begun to write, from the one that reads 0 on.
  const auto ahead = [&] {
    if (HasSwitchedRing(state, ring)) return count;
    const uint64_t next = NextRecord(state, ring) / sizeof(Word);
    const uint64_t here = ring.tail / sizeof(Word) + records;
    return next > here ? next - here : 0;
  };
  while (records < most) {
    if (IsPlain<Word>()) {
      // Most records: nothing but an entry or exit.
      const uint64_t read =
          ReadPlain(words + index, std::min<uint64_t>(most - records, count - index));
      records += read;
      index += read;
      if (index == count) index = 0;
      if (records == most) break;
    }
    const Word record = signal_safe::ReadAcquire(words[index]);
    if (record != 0) {
      signal_safe::WriteRelaxed(words[index], Word{0});
      ReadRecord(reader, record);
    } else if (!IsHole<Word>(ring, index, ahead())) {
      break;
    }
    ++records;
    if (++index == count) index = 0;
  }
  // Stored last: the producer reads `tail` before it reuses the room, which must be zeroed by then.
  signal_safe::WriteRelease(ring.tail, ring.tail + records * sizeof(Word));
  return records;
}

void LogCollector::ReadRecord(Reader& reader, uint32_t record) {
  if ((record & signal_safe::kAtBit) != 0) {
    return ReadKind(reader, LogRecordKind::kAt, record & ~signal_safe::kAtBit);
  }
  if (record > kOpMask) {
    return ReadKind(reader, static_cast<LogRecordKind>(record >> signal_safe::kOpBits),
                    record & kOpMask);
  }
  if (ReadOp(reader, record) && timed()) times_.push_back(reader.time);
}

void LogCollector::ReadRecord(Reader& reader, uint64_t record) {
  const auto op = static_cast<uint32_t>(record) & kOpMask;
  const uint64_t upper = record >> signal_safe::kOpBits;
  if (op >> 2 == 0) return ReadKind(reader, static_cast<LogRecordKind>(op), upper);
  AddTimeOff(reader);
  MoveTime(reader, upper);
  if (!ReadOp(reader, op)) return;
  const uint64_t time = TimeOf(reader);
  times_.push_back(times_.empty() ? time : std::max(time, times_.back()));
}

bool LogCollector::ReadOp(Reader& reader, uint32_t op) {
  if (kinds_.all()) {
    ops_.push_back(op);
    if (follows_) Follow(reader, op);
    return true;
  }
  const bool wanted = kinds_.Has(op >> 2, (op & kJitted) != 0);
  if (wanted) {
    if (reader.at != reader.seen && LogPosition(arena_, reader.at).is_known()) {
      AddControl(LogRecordKind::kAt, reader.at, TimeOf(reader));
    }
    ops_.push_back(op);
  } else {
    calls_ += (op & kExit) == 0;
  }
  Follow(reader, op);
  if (wanted) reader.seen = reader.at;
  return wanted;
}

void LogCollector::Follow(Reader& reader, uint32_t op) const {
  LogPosition position(arena_, reader.at);
  if ((op & kExit) != 0) {
    position.Exit(op >> 2);
  } else {
    position.Enter(op >> 2);
  }
  reader.at = position.at();
}

// Advances the time to the next one with these low bits. A time just before `near` changes nothing.
void LogCollector::MoveTime(Reader& reader, uint64_t low_bits) {
  const uint64_t passed = (low_bits - reader.near) & ((uint64_t{1} << kTimeBits) - 1);
  if (passed < uint64_t{1} << (kTimeBits - 1)) reader.near += passed;
  reader.time = std::max(reader.time, reader.near);
}

void LogCollector::ReadKind(Reader& reader, LogRecordKind kind, uint64_t value) {
  switch (kind) {
    case LogRecordKind::kTime:
      if (reader.is_wide) {
        AddTimeOff(reader);
        MoveTime(reader, value);
      } else {
        reader.time =
            std::max(reader.time, (reader.time_high << signal_safe::kOpBits | value) * 1000);
      }
      break;
    case LogRecordKind::kTimeHigh:
      reader.time_high = value;
      break;
    case LogRecordKind::kDropped: {
      const uint64_t reported = std::min(value, reader.reported);
      reader.reported -= reported;
      AddControl(kind, value - reported, TimeOf(reader));
      break;
    }
    case LogRecordKind::kAt:
      reader.at = reader.seen = static_cast<signal_safe::Ref>(value);
      AddControl(kind, value, TimeOf(reader));
      break;
    case LogRecordKind::kOff:
      // A time that is too long for one record has several.
      reader.off += scale_.Nanos(value);
      break;
  }
}

// Called when the next record's time is known: positions before it have the last record's time.
void LogCollector::AddTimeOff(Reader& reader) {
  if (reader.off != 0) AddControl(LogRecordKind::kOff, reader.off, 0);
  reader.off = 0;
}

void LogCollector::AddControl(LogRecordKind kind, uint64_t value, uint64_t time) {
  controls_.push_back({static_cast<uint32_t>(ops_.size()), kind, value, time});
}

void LogCollector::EndFile(bool is_last, Visit visit) {
  if (is_last) {
    stalled_ = stalled();
    EndWaits();
  }
  ForEachState([&](ThreadState& state) {
    if (signal_safe::HasLog(state)) EndFileOf(state, is_last, visit);
  });
}

void LogCollector::EndFileOf(ThreadState& state, bool is_last, Visit visit) {
  // Read first: records that are written from now on are later.
  const uint64_t now = NowTicks();
  DrainToNow(state, visit);
  Reader& reader = ReaderOf(state);
  const uint64_t in_gap = signal_safe::ReadAcquire(state.log_gap);
  if (in_gap > 1) {
    const Gap gap = OpenGap(state);
    const bool wanted = is_last || clock_ != signal_safe::ProbeClock::kCpu;
    if (gap.gap != 0 && wanted) FinishGap(state, gap, RefOf(gap.current), now, visit);
    return;
  }
  if (in_gap == 1 || clock_ == signal_safe::ProbeClock::kCpu || now <= reader.time) return;
  ReadCurrentPosition(state, reader);
  const uint64_t since = TimeOf(reader);
  BeginRun(reader);
  reader.time = now;
  if (IsInside(state, reader)) {
    AddControl(LogRecordKind::kAt, reader.at, TimeOf(reader));
    reader.seen = reader.at;
  }
  EndRun(state, since, visit);
}

// The number of runs is limited, because a thread may record faster than it is read.
void LogCollector::DrainToNow(ThreadState& state, Visit visit) {
  // As many runs as the rings of a thread hold, and a few more.
  constexpr size_t kRuns =
      signal_safe::ChunkBytes(signal_safe::kLastRingClass) / sizeof(uint32_t) / kRunRecords + 2;
  for (size_t run = 0; run < kRuns && DrainSome(state, visit); ++run) {
  }
}

void LogCollector::FinishGap(const ThreadState& state, const Gap& gap, signal_safe::Ref goes_on,
                             uint64_t now, Visit visit) {
  Reader& reader = ReaderOf(state);
  const uint64_t since = TimeOf(reader);
  BeginRun(reader);
  AddControl(LogRecordKind::kAt, RefOf(gap.gap), since);
  reader.time = std::max(reader.time, now);
  // The thread continues to count, and will report the whole gap.
  AddControl(LogRecordKind::kDropped, gap.dropped - std::min(gap.dropped, reader.reported),
             TimeOf(reader));
  reader.reported = gap.dropped;
  AddControl(LogRecordKind::kAt, goes_on, TimeOf(reader));
  reader.at = RefOf(gap.gap);
  reader.seen = goes_on;
  EndRun(state, since, visit);
}

void LogCollector::BeginRecording(bool follow, CallKinds kinds) {
  EndWaits();
  stalled_ = false;
  const absl::flat_hash_map<uint64_t, Reader> before = std::exchange(readers_, {});
  ForEachState([&](ThreadState& state) {
    if (!signal_safe::HasLog(state)) return;
    // Only threads that still exist keep their readers.
    if (const auto known = before.find(state.java_tid); known != before.end())
      readers_.insert(*known);
    DrainToNow(state, [](const LogRun&) {});
    Reader& reader = ReaderOf(state);
    ReadCurrentPosition(state, reader);
    // Calls that an open gap has dropped up to now belong to no recording.
    reader.reported = signal_safe::ReadRelaxed(state.log_gap) > 1
                          ? signal_safe::ReadRelaxed(state.log_dropped)
                          : 0;
    reader.time = std::max(reader.time, NowTicks());
    reader.off = 0;
  });
  kinds_ = std::move(kinds);
  follows_ = follow || !kinds_.all();
  BeginFile();
  signal_safe::WriteRelaxed(arena_->log_stopped, uint64_t{0});
  events_ = calls_ = dropped_ = dropped_before_file_ = 0;
}

void LogCollector::BeginFile() {
  dropped_before_file_ = dropped_;
  waited_before_ = signal_safe::ReadRelaxed(arena_->log_waited);
  ForEachState([this](const ThreadState& state) {
    if (!signal_safe::HasLog(state)) return;
    Reader& reader = ReaderOf(state);
    const Gap gap = OpenGap(state);
    if (gap.gap != 0) reader.at = RefOf(gap.gap);
    reader.begins_at = IsInside(state, reader) ? reader.at : 0;
    // Whoever reads the file begins at the root.
    reader.seen = state.root;
  });
}

void LogCollector::ReadCurrentPosition(const ThreadState& state, Reader& reader) const {
  if (follows_) return;
  const uint64_t current = signal_safe::ReadAcquire(state.current);
  const bool is_still = IsRead(state) && signal_safe::ReadAcquire(state.current) == current;
  reader.at = is_still ? RefOf(current) : signal_safe::RefOf(arena_, &arena_->sink_node);
}

bool LogCollector::IsInside(const ThreadState& state, const Reader& reader) const {
  return reader.at != state.root && LogPosition(arena_, reader.at).is_known();
}

}  // namespace jtrace::calls
