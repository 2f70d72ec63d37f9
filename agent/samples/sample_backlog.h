// Samples on their way from their threads' rings to the writer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "agent/samples/handler/sample_record.h"
#include "agent/signal_safe/ring.h"

namespace jtrace::samples {

// A thread's ring lasts for some 60 samples of 500 frames. The writer may need longer for a chunk:
// so another thread empties rings that fill into this queue, which all threads share. A sample
// takes the room of the frames that differ from those of its thread's last one: stacks of a
// thousand frames mostly change in the last ten. What does not fit stays in the rings.
//
// Add from one thread at a time, Take from one thread at a time, both at the same time.
class SampleBacklog {
 public:
  // `bytes`: a power of two, of address space; it takes as much memory as was in use at once.
  static absl::StatusOr<std::unique_ptr<SampleBacklog>> Create(uint32_t bytes);
  ~SampleBacklog();
  SampleBacklog(const SampleBacklog&) = delete;
  SampleBacklog& operator=(const SampleBacklog&) = delete;

  // Moves what is in the ring of a slot, oldest first. False: not all of it fits.
  bool Add(uint32_t slot, signal_safe::SpscRing& ring);
  // Whether the writer should come.
  bool IsFilling() const { return queue_.used() > queue_.capacity() / 4; }
  // Passes on what is there, oldest first.
  void Drain(absl::FunctionRef<void(const SampleView&)> take);

 private:
  // The frames of each slot's last sample.
  using LastFrames = absl::flat_hash_map<uint32_t, std::vector<Frame>>;

  SampleBacklog(std::byte* storage, uint32_t bytes) { queue_.Init(storage, bytes); }
  bool AddOne(uint32_t slot, const std::byte* record);

  signal_safe::SpscRing queue_;
  LastFrames added_;  // since the queue was empty
  LastFrames taken_;
};

}  // namespace jtrace::samples
