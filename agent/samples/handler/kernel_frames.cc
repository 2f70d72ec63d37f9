#include "agent/samples/handler/kernel_frames.h"

#include <linux/perf_event.h>

#include <atomic>
#include <cstring>

namespace jtrace::samples {
namespace {

// Reads 8-byte words at positions that wrap around.
class Ring {
 public:
  explicit Ring(void* memory)
      : head_page_(static_cast<perf_event_mmap_page*>(memory)),
        data_(static_cast<const char*>(memory) + head_page_->data_offset) {}

  uint64_t head() const { return __atomic_load_n(&head_page_->data_head, __ATOMIC_ACQUIRE); }
  uint64_t tail() const { return head_page_->data_tail; }
  void Release(uint64_t to) { __atomic_store_n(&head_page_->data_tail, to, __ATOMIC_RELEASE); }

  uint64_t Word(uint64_t position) const {
    uint64_t word;
    std::memcpy(&word, data_ + position % kKernelRingBytes, sizeof word);
    return word;
  }

 private:
  perf_event_mmap_page* const head_page_;
  const char* const data_;
};

// Records are multiples of 8 bytes and have a head of 8 bytes, so a head never wraps around.
perf_event_header HeaderAt(const Ring& ring, uint64_t position) {
  const uint64_t word = ring.Word(position);
  perf_event_header header;
  static_assert(sizeof header == sizeof word);
  std::memcpy(&header, &word, sizeof header);
  return header;
}

// Pushes the kernel's part of the call chain at `position`: a count, then addresses, and before
// them markers of where they belong.
void PushChain(const Ring& ring, uint64_t position, uint64_t end, uint32_t limit, Chain& chain) {
  constexpr auto kFirstMarker = static_cast<uint64_t>(PERF_CONTEXT_MAX);
  const uint64_t count = ring.Word(position);
  bool in_kernel = false;
  for (uint64_t i = 1; i <= count && position + 8 * i < end && limit > 0; ++i) {
    const uint64_t address = ring.Word(position + 8 * i);
    if (address >= kFirstMarker) {
      in_kernel = address == static_cast<uint64_t>(PERF_CONTEXT_KERNEL);
    } else if (in_kernel) {
      chain.Push(FrameKind::kKernel, address, -1);
      --limit;
    }
  }
}

}  // namespace

void PushKernelFrames(void* memory, uint32_t limit, Chain& chain) {
  Ring ring(memory);
  const uint64_t head = ring.head();
  uint64_t newest = head, newest_end = head;
  for (uint64_t at = ring.tail(); at < head;) {
    const perf_event_header header = HeaderAt(ring, at);
    if (header.size < sizeof header) break;
    if (header.type == PERF_RECORD_SAMPLE) {
      newest = at;
      newest_end = at + header.size;
    }
    at += header.size;
  }
  if (newest != head) {
    PushChain(ring, newest + sizeof(perf_event_header), newest_end, limit, chain);
  }
  ring.Release(head);
}

}  // namespace jtrace::samples
