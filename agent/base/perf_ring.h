// The memory in which the kernel writes the records of a perf event (perf_event_open(2), "MMAP
// layout"). Plain memory only: async-signal-safe.
#pragma once

#include <linux/perf_event.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace jtrace {

// Bytes of records for samples with the kernel's frames. A record has at most 127 addresses, and
// the event stops after each, or after the few that come until its signal is handled
// (perf_stop_mode.h).
inline constexpr uint64_t kKernelRingBytes = 4096;

// Reads the records, which are multiples of 8 bytes. Positions only rise; records may wrap around.
// One reader at a time.
class PerfRing {
 public:
  // `memory` was mapped with MappedBytes(record_bytes).
  PerfRing(void* memory, uint64_t record_bytes)
      : head_page_(static_cast<perf_event_mmap_page*>(memory)),
        records_(static_cast<const char*>(memory) + head_page_->data_offset),
        record_bytes_(record_bytes) {}
  // Returns the bytes of a page with the ring's head, and of the records.
  static size_t MappedBytes(uint64_t record_bytes) {
    return static_cast<size_t>(sysconf(_SC_PAGESIZE)) + record_bytes;
  }

  // The kernel has written the records from tail() to head().
  uint64_t head() const { return __atomic_load_n(&head_page_->data_head, __ATOMIC_ACQUIRE); }
  uint64_t tail() const { return head_page_->data_tail; }
  // Lets the kernel overwrite the records before `to`.
  void Release(uint64_t to) { __atomic_store_n(&head_page_->data_tail, to, __ATOMIC_RELEASE); }

  // Returns the 8 bytes at a position.
  uint64_t Word(uint64_t position) const {
    uint64_t word;
    std::memcpy(&word, records_ + position % record_bytes_, sizeof word);
    return word;
  }
  perf_event_header Header(uint64_t position) const {
    const uint64_t word = Word(position);
    perf_event_header header;
    static_assert(sizeof header == sizeof word);
    std::memcpy(&header, &word, sizeof header);
    return header;
  }

 private:
  perf_event_mmap_page* const head_page_;
  const char* const records_;
  const uint64_t record_bytes_;
};

}  // namespace jtrace
