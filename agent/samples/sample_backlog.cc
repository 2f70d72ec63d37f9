#include "agent/samples/sample_backlog.h"

#include <errno.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace jtrace::samples {
namespace {

// The head of a queued sample. The frames that it does not share follow it, innermost first.
struct Entry {
  uint32_t slot;
  uint32_t shared : 31;   // outermost frames that are those of the slot's last sample
  uint32_t is_first : 1;  // nothing is shared with samples before
  SampleHeader header;
};

// Returns how many of the outermost frames are equal.
uint32_t Shared(absl::Span<const Frame> a, absl::Span<const Frame> b) {
  const size_t most = std::min(a.size(), b.size());
  size_t count = 0;
  while (count < most &&
         std::memcmp(&a[a.size() - 1 - count], &b[b.size() - 1 - count], sizeof(Frame)) == 0) {
    ++count;
  }
  return static_cast<uint32_t>(count);
}

}  // namespace

absl::StatusOr<std::unique_ptr<SampleBacklog>> SampleBacklog::Create(uint32_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return absl::ErrnoToStatus(errno, "no memory for samples");
  return std::unique_ptr<SampleBacklog>(new SampleBacklog(static_cast<std::byte*>(memory), bytes));
}

SampleBacklog::~SampleBacklog() { munmap(queue_.storage(), queue_.capacity()); }

bool SampleBacklog::Add(uint32_t slot, signal_safe::SpscRing& ring) {
  uint32_t bytes;
  while (const std::byte* const record = ring.Front(&bytes)) {
    if (!AddOne(slot, record)) return false;
    ring.Pop();
  }
  return true;
}

bool SampleBacklog::AddOne(uint32_t slot, const std::byte* record) {
  const auto& header = *reinterpret_cast<const SampleHeader*>(record);
  const absl::Span<const Frame> frames(
      reinterpret_cast<const Frame*>(record + sizeof(SampleHeader)), header.frame_count);
  const bool is_first = queue_.used() == 0;
  if (is_first) added_.clear();
  std::vector<Frame>& last = added_[slot];
  const uint32_t shared = Shared(frames, last);
  const size_t own = frames.size() - shared;
  std::byte* const room =
      queue_.Reserve(static_cast<uint32_t>(sizeof(Entry) + own * sizeof(Frame)));
  if (room == nullptr) return false;
  new (room) Entry{slot, shared, is_first, header};
  std::copy_n(frames.begin(), own, reinterpret_cast<Frame*>(room + sizeof(Entry)));
  queue_.Commit();
  last.assign(frames.begin(), frames.end());
  return true;
}

void SampleBacklog::Drain(absl::FunctionRef<void(const SampleView&)> take) {
  uint32_t bytes;
  while (const std::byte* const record = queue_.Front(&bytes)) {
    const auto& entry = *reinterpret_cast<const Entry*>(record);
    if (entry.is_first) taken_.clear();
    std::vector<Frame>& frames = taken_[entry.slot];
    frames.erase(frames.begin(), frames.end() - entry.shared);
    const auto* const own = reinterpret_cast<const Frame*>(record + sizeof(Entry));
    frames.insert(frames.begin(), own, own + (entry.header.frame_count - entry.shared));
    take({entry.header, entry.slot, frames.data()});
    queue_.Pop();
  }
}

}  // namespace jtrace::samples
