// The queue that samples pass between the rings of their threads and the writer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "agent/samples/handler/sample_record.h"
#include "agent/signal_safe/spsc_ring.h"

namespace jtrace::samples {

// A thread's ring has room for some 60 samples of 500 frames, and may fill while the writer writes
// a chunk. So another thread (RingDrainer) empties filling rings into this queue, which all threads
// share. A queued sample has only the frames that differ from those of its thread's last one: of a
// thousand, mostly ten. Samples that do not fit stay in their rings.
//
// Add runs on one thread at a time, and so does Drain; the two may run at the same time.
class SampleBacklog {
 public:
  // Reserves `bytes` of address space, a power of two. Only pages that were in use take memory.
  static absl::StatusOr<std::unique_ptr<SampleBacklog>> Create(uint32_t bytes);
  ~SampleBacklog();
  SampleBacklog(const SampleBacklog&) = delete;
  SampleBacklog& operator=(const SampleBacklog&) = delete;

  // Moves the samples of a slot's ring here, oldest first. False: not all of them fit.
  bool Add(uint32_t slot, signal_safe::SpscRing& ring);
  // Whether the writer should drain the queue now.
  bool IsFilling() const { return queue_.used() > queue_.capacity() / 4; }
  // Passes all samples to `take` in the order in which they were added, and removes them.
  void Drain(absl::FunctionRef<void(const SampleView&)> take);

 private:
  // The frames of each slot's last sample.
  using LastFrames = absl::flat_hash_map<uint32_t, std::vector<Frame>>;

  SampleBacklog(std::byte* storage, uint32_t bytes) { queue_.Init(storage, bytes); }
  bool AddOne(uint32_t slot, const std::byte* record);

  signal_safe::SpscRing queue_;
  LastFrames added_;  // since the queue was empty; of the thread that adds
  LastFrames taken_;  // the same for the thread that drains
};

}  // namespace jtrace::samples
