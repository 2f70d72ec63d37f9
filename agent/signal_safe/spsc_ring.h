// A bounded queue of records of any size between one producer and one consumer.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace jtrace::signal_safe {

// One producer and one consumer at a time. A thread's ring: its handler; the holder of
// Sampler::emptying_. The backlog: the holder of Sampler::emptying_; the writer thread.
//
// The producer never waits: Reserve returns null when the record does not fit, and the caller drops
// and counts it. A record is contiguous, 8-byte aligned; where it would straddle the end of the
// storage, the rest of the storage is skipped. At most one reservation is open at a time: a handler
// that interrupts the producer between Reserve and Commit must not use the same ring.
//
// Whenever the ring is empty the next record is put at the storage's begin, so that no more of it
// is ever touched than was in use at once.
//
// The storage is the caller's, must be 8-byte aligned and outlive the ring. Async-signal-safe.
class SpscRing {
 public:
  // Producer and consumer must both be at rest. capacity: bytes, a power of two, at least 64.
  void Init(std::byte* storage, uint32_t capacity) {
    storage_ = storage;
    mask_ = capacity - 1;
    head_.store(0, std::memory_order_relaxed);
    tail_.store(0, std::memory_order_relaxed);
    reserved_ = begin_ = 0;
  }

  uint32_t capacity() const { return mask_ + 1; }
  std::byte* storage() const { return storage_; }

  // Producer: room for a record of `bytes`, or null if the ring is full. Not visible before Commit.
  std::byte* Reserve(uint32_t bytes) {
    const uint64_t need = Padded(bytes);
    const uint64_t head = head_.load(std::memory_order_relaxed);
    const uint64_t used = head - tail_.load(std::memory_order_acquire);
    // The consumer has read everything, and reads begin_ again only after the next Commit.
    if (used == 0) begin_ = head;
    const uint64_t free = capacity() - used;
    const uint64_t to_end = ToEnd(head);
    const uint64_t skip = need <= to_end ? 0 : to_end;
    if (need + skip > free || need > capacity()) return nullptr;
    if (skip != 0) HeaderAt(head)->bytes = kSkip;
    Header* header = HeaderAt(head + skip);
    header->bytes = last_bytes_ = bytes;
    reserved_ = head + skip + need;
    return reinterpret_cast<std::byte*>(header + 1);
  }

  // Producer: the reserved record is `bytes` long after all, less than was requested.
  void Shrink(uint32_t bytes) {
    Header* const header = HeaderAt(reserved_ - Padded(last_bytes_));
    reserved_ -= Padded(last_bytes_) - Padded(bytes);
    header->bytes = last_bytes_ = bytes;
  }

  // Producer: passes the reserved record to the consumer.
  void Commit() { head_.store(reserved_, std::memory_order_release); }

  // Producer: about where the next record will be.
  const std::byte* Next() const {
    return storage_ + OffsetOf(head_.load(std::memory_order_relaxed));
  }

  // Producer: bytes that the consumer has not released.
  uint64_t used() const {
    return head_.load(std::memory_order_relaxed) - tail_.load(std::memory_order_relaxed);
  }

  // Consumer: the oldest record, or null if there is none. Valid until Pop.
  const std::byte* Front(uint32_t* bytes) {
    uint64_t tail = tail_.load(std::memory_order_relaxed);
    const uint64_t head = head_.load(std::memory_order_acquire);
    if (tail == head) return nullptr;
    if (HeaderAt(tail)->bytes == kSkip) {
      tail += ToEnd(tail);
      tail_.store(tail, std::memory_order_release);
    }
    *bytes = HeaderAt(tail)->bytes;
    return reinterpret_cast<const std::byte*>(HeaderAt(tail) + 1);
  }

  // Consumer: returns to the producer the room of the record that Front returned.
  void Pop() {
    const uint64_t tail = tail_.load(std::memory_order_relaxed);
    tail_.store(tail + Padded(HeaderAt(tail)->bytes), std::memory_order_release);
  }

 private:
  struct Header {
    uint32_t bytes;  // of the record that follows, or kSkip
    uint32_t unused;
  };
  static constexpr uint32_t kSkip = 0xffff'ffff;

  static uint64_t Padded(uint32_t bytes) { return sizeof(Header) + ((bytes + 7ull) & ~7ull); }
  uint64_t OffsetOf(uint64_t position) const { return (position - begin_) & mask_; }
  uint64_t ToEnd(uint64_t position) const { return capacity() - OffsetOf(position); }
  Header* HeaderAt(uint64_t position) {
    return reinterpret_cast<Header*>(storage_ + OffsetOf(position));
  }

  std::byte* storage_ = nullptr;
  uint32_t mask_ = 0;
  // A position that is at the storage's begin. Written by the producer when the ring is empty:
  // after the consumer's release of tail_, before its own of head_.
  uint64_t begin_ = 0;
  uint64_t reserved_ = 0;                      // producer's own
  uint32_t last_bytes_ = 0;                    // producer's own: requested by the last Reserve
  alignas(64) std::atomic<uint64_t> head_{0};  // written by the producer
  alignas(64) std::atomic<uint64_t> tail_{0};  // written by the consumer
};

}  // namespace jtrace::signal_safe
