#include "postproc/reader/log_cursor.h"

#include <algorithm>

#include "postproc/reader/chunk_payload.h"
#include "proto/trace.pb.h"
#include "proto/trace_format.h"

namespace jtrace::postproc {
namespace {

// Nearly all numbers have one byte or two. The next one's length cannot be predicted, so there is
// no branch for it.
inline bool TakeVarint(std::string_view& bytes, uint64_t& value) {
  if (bytes.size() < 2) return ConsumeVarint(bytes, value);
  const uint32_t first = static_cast<uint8_t>(bytes[0]);
  const uint32_t second = static_cast<uint8_t>(bytes[1]);
  if ((first & second & 0x80u) != 0) return ConsumeVarint(bytes, value);
  const uint32_t has_second = first >> 7;
  value = (first & 0x7fu) | ((second << 7) & (0u - has_second));
  bytes.remove_prefix(1 + has_second);
  return true;
}

CallRecord Decode(uint64_t op, int64_t time, Definitions& definitions) {
  CallRecord call;
  call.time = time;
  call.routine = definitions.Routine(static_cast<uint32_t>(op) >> format::kLogRoutineShift);
  call.is_exit = (op & format::kLogExit) != 0;
  call.kind = (op & format::kLogJitted) != 0 ? CodeKind::kJitted : CodeKind::kInterpreted;
  return call;
}

}  // namespace

LogCursor::LogCursor(std::string_view bytes) {
  if (!ParseFields(bytes)) Canonicalize(bytes);
  if (!AtEnd()) StepTime();
}

// False if a field is in pieces, or not as writers write it.
bool LogCursor::ParseFields(std::string_view bytes) {
  using proto::EventLog;
  ops_ = {};
  deltas_ = {};
  while (!bytes.empty()) {
    WireField field;
    if (!ConsumeField(bytes, field)) return false;
    const bool packed = field.wire_type == kLengthDelimited;
    if (field.number == EventLog::kThreadFieldNumber && !packed) {
      thread_ = static_cast<uint32_t>(field.value);
    } else if (field.number == EventLog::kTimeNsFieldNumber && !packed) {
      time_ = StreamTime(field.value);
    } else if (field.number == EventLog::kOpFieldNumber && packed && ops_.empty()) {
      ops_ = field.content;
    } else if (field.number == EventLog::kDeltaNsFieldNumber && packed && deltas_.empty()) {
      deltas_ = field.content;
    } else {
      return false;
    }
  }
  return true;
}

void LogCursor::Canonicalize(std::string_view bytes) {
  proto::EventLog log;
  if (!log.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return Fail();
  proto::EventLog known;  // without fields of newer writers
  known.set_thread(log.thread());
  known.set_time_ns(log.time_ns());
  *known.mutable_op() = log.op();
  *known.mutable_delta_ns() = log.delta_ns();
  canonical_ = std::make_shared<const std::string>(known.SerializeAsString());
  if (!ParseFields(*canonical_)) Fail();
}

void LogCursor::Fail() {
  damaged_ = true;
  ops_ = {};
}

void LogCursor::StepTime() {
  if (deltas_.empty()) return;
  uint64_t delta = 0;
  if (!TakeVarint(deltas_, delta)) return Fail();
  time_ = StreamTime(static_cast<uint64_t>(time_) + static_cast<uint64_t>(StreamTime(delta)));
}

bool LogCursor::AtMark() const {
  std::string_view bytes = ops_;
  uint64_t op = 0;
  return TakeVarint(bytes, op) && op < format::kLogFirstCall;
}

LogCursor::Mark LogCursor::TakeMark() {
  Mark mark;
  TakeVarint(ops_, mark.op);
  if (!TakeVarint(ops_, mark.value)) {
    Fail();
    return {};
  }
  StepTime();  // the value's own, which is 0
  if (!AtEnd()) StepTime();
  return mark;
}

template <typename TakeCall>
inline void LogCursor::ForEachCall(int64_t until, size_t limit, TakeCall take) {
  for (; limit > 0 && !AtEnd() && time_ <= until; --limit) {
    uint64_t op = 0;
    const std::string_view before = ops_;
    if (!TakeVarint(ops_, op)) return Fail();
    if (op < format::kLogFirstCall) {
      ops_ = before;
      return;
    }
    take(op);
    if (!AtEnd()) StepTime();
  }
}

void LogCursor::Take(int64_t until, int64_t floor, size_t limit, Definitions& definitions,
                     std::vector<CallRecord>& calls) {
  ForEachCall(until, limit, [&](uint64_t op) {
    calls.push_back(Decode(op, std::max(time_, floor), definitions));
  });
}

void LogCursor::Take(int64_t until, size_t limit, std::vector<LogCall>& calls) {
  ForEachCall(until, limit, [&](uint64_t op) {
    calls.push_back({time_, static_cast<uint32_t>(op)});
  });
}

}  // namespace jtrace::postproc
