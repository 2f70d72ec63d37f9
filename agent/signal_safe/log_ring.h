// The ring of a thread's log (record=log): probes write it (JTraceLog.java), the writer empties it.
//
// A record is a word of 4 or 8 bytes (record_bytes), never 0 once it is written. The producer
// stores it with a single store; the consumer reads words until it finds 0, writes 0 back and
// advances `tail`. Positions count bytes since the ring's first record and never decrease. A 0 with
// a record after it is a hole that a StackOverflowError left: the producer's stores are in order,
// so nothing will be written there any more.
//
// Rings start small. If the consumer does not keep up, the producer continues in a larger ring, for
// good: ThreadState::log_ring is the one that it writes to, ThreadState::log_read the one that the
// consumer has reached, and `previous` leads from the former to the latter. The consumer reads a
// ring that is no longer written to its end, releases it, and moves on.
//
// Entries and exits are ops in the low 24 bits: routine << 2 | exit << 1 | jitted. If they have 8
// bytes, the low bits of the clock are in the upper 40. Other records of 4 bytes have a
// LogRecordKind in the upper 8 bits and its value below, except kAt: kAtBit and a Ref. Other
// records of 8 bytes have the LogRecordKind in place of the op, with routine 0, and the value in
// the upper 40 bits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jtrace::signal_safe {

inline constexpr int kOpBits = 24;
// Routine ids in a log are below this.
inline constexpr uint32_t kMaxLogRoutines = 1u << (kOpBits - 2);
// Records that are not entries or exits.
enum class LogRecordKind : uint32_t {
  kAt = 0,        // Ref of the thread's current node
  kDropped = 1,   // calls counted in the tree instead
  kTime = 2,      // the clock for later records, its low bits; microseconds if records have 4 bytes
  kOff = 3,       // ticks off the processors before the next record (8-byte records)
  kTimeHigh = 4,  // the bits above those of the next kTime, if they changed (4-byte records)
};
// Arena::log_waits (overflow=): what a thread does whose ring is full.
enum class FullLogPolicy : uint64_t {
  kDrop = 0,     // calls are left out of the log
  kWait = 1,     // a thread sleeps until its ring has room
  kStalled = 2,  // set by a thread that waited in vain: none waits any longer
};
inline constexpr uint32_t kAtBit = uint32_t{1} << 31;

// The head of a ring, in a chunk of its own (arena.h), after the chunk's header.
struct LogRing {
  uint64_t tail;          // consumer: bytes read
  uint64_t bytes;         // of the records' storage, which follows
  uint64_t record_bytes;  // 4 or 8; written before the ring is published, as the next two are
  uint64_t start_ticks;   // of a thread's first ring: the clock when the thread got its state
  uint64_t previous;      // address of the ring before; 0 in the one that the consumer reads
  uint64_t lap;           // producer: bytes recorded when the ring was last begun from its start
  uint64_t reserved[2];
};
static_assert(sizeof(LogRing) == 64 && offsetof(LogRing, start_ticks) == 24);

// Size classes of the rings' chunks. Each thread begins with the first; each of its next rings is
// kRingClassStep classes larger. Trees never need the largest.
inline constexpr uint32_t kFirstRingClass = 1;
inline constexpr uint32_t kRingClassStep = 2;
inline constexpr uint32_t kVirtualRingClass = 3;  // the largest of virtual threads, of which there
                                                  // may be very many
inline constexpr uint32_t kLastRingClass = 5;

}  // namespace jtrace::signal_safe
