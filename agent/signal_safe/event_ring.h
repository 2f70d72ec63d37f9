// The ring of a thread's log (record=log): written by JTraceLog.java, emptied by the writer thread.
//
// A record is a word of 4 or 8 bytes (record_bytes), never 0 once it is written. The producer
// stores it with a single store; the consumer reads words until it finds 0, writes 0 back and
// advances `tail`. Positions count bytes since the ring's first record and never decrease. A 0 with
// a record after it is a hole that a StackOverflowError left: the producer's stores are in order,
// so nothing will be written there any more.
//
// Rings start small. Where the consumer does not keep up the producer continues in a larger one,
// permanently: ThreadState::log_ring is the one that it writes to, ThreadState::log_read the one
// that the consumer has reached, and `previous` leads from the former to the latter. The consumer
// moves on, and releases the ring, once it has read everything in one that is no longer written to.
//
// 4 bytes: the low 24 bits are the op (routine << 2 | exit << 1 | jitted) and the upper 8 are 0, or
// they hold a kind and the low 24 bits its value; kAt has only the first bit and a Ref in the rest.
// 8 bytes: the low 24 bits are the op and the upper 40 the low bits of the clock; without a routine
// they hold a kind, and the upper 40 its value.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/signal_safe/probe_memory.h"

namespace jtrace::signal_safe {

inline constexpr int kOpBits = 24;
// Routine ids in a log are below this.
inline constexpr uint32_t kMaxLogRoutines = 1u << (kOpBits - 2);
// Records that are not entries or exits.
enum class LogKind : uint32_t {
  kAt = 0,        // Ref of the node where the thread is
  kDropped = 1,   // calls counted in the tree instead
  kTime = 2,      // of later records: the clock, low bits; in microseconds if records have 4 bytes
  kOff = 3,       // ticks off the processors before the next record (8-byte records)
  kTimeHigh = 4,  // the bits above, of the next kTime, if they changed (4-byte records)
};
// Arena::log_waits (overflow=).
enum class LogWaits : uint64_t {
  kNo = 0,       // calls are left out of the log
  kYes = 1,      // a thread sleeps until its ring has room
  kStalled = 2,  // from a thread: none waits any longer, the rings are not read
};
inline constexpr uint32_t kAtBit = uint32_t{1} << 31;

// In its own chunk (probe_memory.h), after the chunk's header.
struct EventRing {
  uint64_t tail;          // consumer: bytes read
  uint64_t bytes;         // of the records' storage, which follows
  uint64_t record_bytes;  // 4 or 8; written before the ring is published, like the next ones:
  uint64_t start_ticks;   // of a thread's first one: the clock when the thread got its state
  uint64_t previous;      // address of the ring before; 0 in the one that the consumer reads
  uint64_t lap;           // producer: bytes recorded when the ring was last begun from its start
  uint64_t reserved[2];
};
static_assert(sizeof(EventRing) == 64 && offsetof(EventRing, start_ticks) == 24);

// Size classes of the chunks: each thread begins with the first one. Trees never need the largest.
inline constexpr uint32_t kFirstRingClass = 1;
inline constexpr uint32_t kRingClassStep = 2;
inline constexpr uint32_t kVirtualRingClass = 3;  // the largest of virtual threads, of which there
                                                  // may be very many
inline constexpr uint32_t kLastRingClass = 5;

}  // namespace jtrace::signal_safe
