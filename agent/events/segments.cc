#include "agent/events/segments.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "agent/trace/label_sets.h"
#include "proto/trace_format.h"

namespace jtrace::events {
namespace {

constexpr uint32_t kOther = 0;

// What Begin returns: the time << 1 | whether it has a record.
constexpr uint64_t kHasRecord = 1;

struct OpenSegment {
  uint32_t number;
  uint64_t begun;
};

// Set when the thread's list is destroyed: destructors of the program may still end segments.
constinit thread_local bool t_is_over = false;
struct OpenSegments {
  ~OpenSegments() { t_is_over = true; }
  std::vector<OpenSegment> list = {};
};
thread_local OpenSegments t_open_segments;

}  // namespace

Segments::Segments(const RecordingClock& clock, trace::RecordEncoder& encoder,
                   trace::EventRateLimiter& limits, Losses& losses, ThreadNumber thread_number)
    : clock_(clock),
      encoder_(encoder),
      limits_(limits),
      losses_(losses),
      thread_number_(std::move(thread_number)) {
  constexpr char kOtherName[] = "[other]";
  names_[kOther].store(new Name{.text = kOtherName});
  numbers_.emplace(kOtherName, kOther);
}

Segments::~Segments() {
  for (const std::atomic<Name*>& name : names_) delete name.load();
}

absl::Span<const Code> Segments::codes() const {
  static constexpr Code kCodes[] = {Code::kSegment};
  return kCodes;
}

void Segments::Start(const EventCodeSet&) {
  began_ns_.store(MonotonicNanos(), std::memory_order_relaxed);
  is_on_.store(true, std::memory_order_release);
}

uint32_t Segments::Number(absl::string_view name) {
  name = trace::TruncateUtf8(kMaxNameBytes, name);
  const std::lock_guard lock(mutex_);
  if (const auto known = numbers_.find(name); known != numbers_.end()) return known->second;
  if (numbers_.size() > kMaxNames) return kOther;
  const auto number = static_cast<uint32_t>(numbers_.size());
  numbers_.emplace(name, number);
  names_[number].store(new Name{.text = std::string(name)}, std::memory_order_release);
  return number;
}

bool Segments::BelongsTo(uint64_t recording_ns, Name& name) {
  if (recording_ns < name.recording_ns) return false;
  if (recording_ns == name.recording_ns) return true;
  name.recording_ns = recording_ns;
  name.ended = {};
  name.open = 0;
  return true;
}

void Segments::Record(uint64_t time_ns, uint32_t minor, int64_t value, const Name& name) {
  encoder_.AddEvent({.time_ns = clock_.Since(time_ns),
                     .thread = thread_number_(),
                     .major = format::kSegment,
                     .minor = minor,
                     .value = value,
                     .text = name.text});
}

uint64_t Segments::Begin(uint32_t number) {
  const uint64_t recording_ns = RecordingNow();
  const uint64_t now = MonotonicNanos();
  Name* const name = Find(number);
  if (recording_ns == 0 || name == nullptr) return now << 1;
  if (number == kOther) {
    losses_.Add("segments.too_many_names", Severity::kWarning, 1,
                "segments counted as [other]: the program has used more than 1,000 names",
                "name segments by what has few values: kinds of requests, not their numbers");
  }
  if (limits_.Count(Code::kSegment, clock_.Since(now))) {
    Record(now, format::kSegmentPair, 0, *name);
    return now << 1 | kHasRecord;
  }
  const std::lock_guard lock(name->mutex);
  if (!BelongsTo(recording_ns, *name)) return now << 1;
  ++name->open;
  name->changed = true;
  return now << 1;
}

void Segments::End(uint32_t number, uint64_t begun, bool in_turn) {
  const uint64_t recording_ns = RecordingNow();
  if (recording_ns == 0) return;
  if (!in_turn) {
    losses_.Add("segments.out_of_turn", Severity::kInfo, 1,
                "segments out of turn: ended where they were not open or not the innermost, or "
                "begun inside of 1,000 others",
                "try (Segment segment = JTrace.segment(name)) { … }");
  }
  Name* const name = Find(number);
  if (begun == 0 || name == nullptr) return;
  const uint64_t begin_ns = begun >> 1;
  if (begin_ns < recording_ns) {
    losses_.Add("segments.begun_before", Severity::kInfo, 1,
                "segments that had begun before the recording, not counted", "");
    return;
  }
  const uint64_t now = MonotonicNanos();
  limits_.Ended(Code::kSegment, now - begin_ns);
  if ((begun & kHasRecord) != 0) {
    Record(now, format::kSegmentPair | format::kEnd, static_cast<int64_t>(now - begin_ns), *name);
  } else {
    CountEnd(recording_ns, now - begin_ns, *name);
  }
}

void Segments::CountEnd(uint64_t recording_ns, uint64_t took_ns, Name& name) {
  const std::lock_guard lock(name.mutex);
  if (!BelongsTo(recording_ns, name)) return;
  Counts& ended = name.ended;
  ended.min_ns = ended.count == 0 ? took_ns : std::min(ended.min_ns, took_ns);
  ended.max_ns = std::max(ended.max_ns, took_ns);
  ended.total_ns += took_ns;
  ++ended.count;
  if (name.open > 0) --name.open;
  name.changed = true;
}

void Segments::ForEachOfRecording(absl::FunctionRef<void(Name&)> visit) {
  for (uint32_t number = 0; number <= kMaxNames; ++number) {
    Name* const name = Find(number);
    if (name == nullptr) return;
    const std::lock_guard lock(name->mutex);
    if (name->recording_ns == began_ns_.load(std::memory_order_relaxed)) visit(*name);
  }
}

void Segments::AddChanges(uint64_t, proto::Chunk& chunk) {
  ForEachOfRecording([&](Name& name) {
    if (!std::exchange(name.changed, false)) return;
    proto::SegmentTotal& total = *chunk.add_segment_total();
    total.set_name(encoder_.String(name.text));
    total.set_count(name.ended.count);
    total.set_total_ns(name.ended.total_ns);
    total.set_min_ns(name.ended.min_ns);
    total.set_max_ns(name.ended.max_ns);
    total.set_open(name.open);
  });
}

void Segments::BeginFile() {
  ForEachOfRecording([](Name& name) {
    name.ended = {};
    name.changed = name.open > 0;
  });
}

ThreadSegments::Begun ThreadSegments::Begin(Segments& segments, uint32_t number) {
  if (t_is_over) return Begun::kThreadEnds;
  if (t_open_segments.list.size() >= kMaxOpen) {
    segments.End(number, 0, /*in_turn=*/false);
    return Begun::kTooMany;
  }
  t_open_segments.list.push_back({number, segments.Begin(number)});
  return Begun::kYes;
}

bool ThreadSegments::End(Segments& segments, uint32_t number) {
  if (t_is_over) return false;
  std::vector<OpenSegment>& open = t_open_segments.list;
  const bool is_open = std::any_of(open.begin(), open.end(),
                                   [&](const OpenSegment& it) { return it.number == number; });
  if (!is_open) segments.End(number, 0, /*in_turn=*/false);
  for (bool is_it = !is_open; !is_it;) {
    const OpenSegment last = open.back();
    open.pop_back();
    is_it = last.number == number;
    segments.End(last.number, last.begun, /*in_turn=*/is_it);
  }
  return is_open;
}

}  // namespace jtrace::events
