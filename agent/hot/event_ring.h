// The ring of a thread's log (record=log): written by JTraceLog.java, emptied by the writer thread.
//
// A record is a word of 4 or 8 bytes (record_bytes), never 0 once it is written. The producer
// stores it with one store and nothing else; the consumer reads words until it meets 0, writes 0
// back and moves `tail` on. Positions count bytes since the thread's start and never go back. A 0
// with a record behind it is a hole that a StackOverflowError left: the producer's stores are in
// order, so nothing will be written there any more.
//
// 4 bytes: the low 24 bits are the op (routine << 2 | exit << 1 | jitted) and the upper 8 are 0, or
// they hold a kind and the low 24 bits its value; kAt has the first bit alone and a Ref in the
// rest. 8 bytes: the low 24 bits are the op and the upper 40 the low bits of the clock; without a
// routine they hold a kind, and the upper 40 its value.
#ifndef JTRACE_AGENT_HOT_EVENT_RING_H_
#define JTRACE_AGENT_HOT_EVENT_RING_H_

#include <cstddef>
#include <cstdint>

#include "agent/hot/layout.h"

namespace jtrace::hot {

inline constexpr int kOpBits = 24;
// Routine ids in a log are below this.
inline constexpr uint32_t kMaxLogRoutines = 1u << (kOpBits - 2);
enum class LogKind : uint32_t {
  kAt = 0,        // Ref of the node where the thread stands
  kDropped = 1,   // calls that went to the tree instead
  kTime = 2,      // of what follows: the clock, low bits; in microseconds if records have 4 bytes
  kOff = 3,       // ticks off the processors before the next record (8-byte records)
  kTimeHigh = 4,  // the bits above, of the next kTime, if they changed (4-byte records)
};
inline constexpr uint32_t kAtBit = uint32_t{1} << 31;

// What stands behind `start_ticks` is the consumer's alone.
struct EventRing {
  uint64_t tail;          // consumer: bytes read
  uint64_t bytes;         // of the records' storage, which follows
  uint64_t record_bytes;  // 4 or 8; written before the ring is published
  uint64_t start_ticks;   // the clock when the thread got its state
  uint64_t time;          // of the last record or the file's begin, in the clock's units
  uint64_t near;          // 8-byte records: the clock not long before the next one
  uint64_t time_high;     // 4-byte records: the last kTimeHigh
  uint64_t off;           // nanoseconds off the processors that the next record is to tell
  uint64_t told;          // calls of the open gap that are no longer to be told
  Ref at;                 // where the last record leaves the log's reader (LogReaderPosition)
  Ref begins_at;          // where the next record's file begins; 0: the root, or it has begun
  uint32_t reserved[12];
};
static_assert(sizeof(EventRing) == 128 && offsetof(EventRing, start_ticks) == 24);

}  // namespace jtrace::hot

#endif  // JTRACE_AGENT_HOT_EVENT_RING_H_
