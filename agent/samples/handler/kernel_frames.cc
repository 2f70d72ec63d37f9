#include "agent/samples/handler/kernel_frames.h"

#include <linux/perf_event.h>

#include "agent/base/perf_ring.h"

namespace jtrace::samples {
namespace {

// Pushes the kernel's part of the call chain at `position`: a count, then addresses, and before
// them markers of where they belong.
void PushChain(const PerfRing& ring, uint64_t position, uint64_t end, uint32_t limit,
               Chain& chain) {
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
  PerfRing ring(memory, kKernelRingBytes);
  const uint64_t head = ring.head();
  uint64_t newest = head, newest_end = head;
  for (uint64_t at = ring.tail(); at < head;) {
    const perf_event_header header = ring.Header(at);
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
