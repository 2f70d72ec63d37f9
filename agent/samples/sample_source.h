// Encodes the samples of all threads as records of a chunk. Writer thread, unless noted.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "agent/base/clock.h"
#include "agent/base/losses.h"
#include "agent/jvm/class_registry.h"
#include "agent/samples/handler/sample_record.h"
#include "agent/samples/sampler.h"
#include "agent/trace/chunk_source.h"
#include "agent/trace/label_sets.h"
#include "common/call_site.h"

namespace jtrace::samples {

class SampleSource : public trace::ChunkSource {
 public:
  // The number of the thread under which a Java thread's samples are shown.
  using ThreadNumber = std::function<uint32_t(uint64_t java_tid)>;
  // Turns the tree position of a sample (signal_safe::Position) into the trace's node number; 0:
  // none. `innermost` is the Java method that ran, 0 if unknown. Null if there are no trees.
  using NodeNumber = std::function<uint32_t(uint64_t raw_node, jvm::MethodKey innermost)>;
  // sites=on: the call site at a bytecode index of a method. Null: call sites are not recorded.
  using CallSiteAt = std::function<CallSite(jvm::MethodKey method, uint32_t bci)>;

  SampleSource(const RecordingClock& clock, Sampler& sampler, jvm::ClassRegistry& classes,
               trace::RecordEncoder& encoder, const trace::LabelSets& labels, Losses& losses,
               ThreadNumber thread_number, NodeNumber node_number, CallSiteAt call_site_at,
               bool records_interrupts);

  // blocks=on: turns a bytecode index of a routine with probes into that of its class file. Set
  // before the first Poll.
  using OriginalBci = std::function<uint32_t(uint32_t routine, uint32_t bci)>;
  void SetOriginalBci(OriginalBci original_bci) { original_bci_ = std::move(original_bci); }

  // Calls `reached` at each Poll from this number of samples on. Set before the first Poll.
  void NotifyAt(uint64_t samples, std::function<void()> reached) {
    awaited_ = samples;
    reached_ = std::move(reached);
  }

  void Poll(proto::Chunk& chunk) override;
  void AddChanges(uint64_t time_ns, proto::Chunk& chunk) override;

  // Any thread.
  uint64_t samples() const { return samples_.load(std::memory_order_relaxed); }

 private:
  // A thread's last sample, kept for the ticks that the thread spends there (timer=wall).
  struct LastSample {
    uint32_t number = 0;
    proto::Sample sample;  // without frames and blocker
    uintptr_t blocker_klass = 0;
    uint32_t labels = 0;
    std::vector<Frame> frames;
  };

  using FrameKey = std::tuple<uint64_t, int32_t, uint8_t, uint8_t>;

  void Add(const SampleView& view, proto::Chunk& chunk);
  struct CachedFrame {
    uint32_t index = 0;  // in Chunk.frame
    bool is_probe = false;
    jvm::MethodKey method = 0;  // of a Java frame other than the probe's
  };

  void AddInterrupt(const proto::Sample& sample, uint32_t duration_ns);
  void AddPosition(const SampleHeader& header, jvm::MethodKey innermost, proto::Sample& sample);
  // Returns the innermost Java method, 0 if its frame could not be named.
  jvm::MethodKey AddFrames(absl::Span<const Frame> frames, bool is_unwind, proto::Chunk& chunk,
                           proto::Sample& sample);
  proto::Sample::State StateOf(const SampleHeader& header, jvm::MethodKey innermost);
  void AddBlocker(uintptr_t klass, proto::Sample& sample);
  void AddLabels(uint32_t number, proto::Sample& sample);
  // Repeats the thread's last sample for ticks without CPU time.
  void Repeat(const LastSample& last, IdleTicks idle, proto::Chunk& chunk);
  void RepeatIdle(proto::Chunk& chunk);
  void AddCost(proto::Chunk& chunk) const;
  CachedFrame Resolve(const Frame& frame, proto::Chunk& chunk);
  // Returns the key under which the registry of classes has a Java frame's method.
  jvm::MethodKey KeyOf(const Frame& frame) const;
  // Returns Method.id of an intrinsic of MethodHandle, which no class lists; 0: it is none.
  uint32_t Intrinsic(const Frame& frame);
  uint32_t MethodOf(const Frame& frame);
  void Encode(const Frame& frame, proto::Frame& out);
  bool IsProbe(const proto::Frame& frame) const;
  void UpdateLosses();

  const RecordingClock& clock_;
  Sampler& sampler_;
  jvm::ClassRegistry& classes_;
  trace::RecordEncoder& encoder_;
  const trace::LabelSets& labels_;
  Losses& losses_;
  const bool positions_expected_;
  const ThreadNumber thread_number_;
  const NodeNumber node_number_;
  const CallSiteAt call_site_at_;
  OriginalBci original_bci_;
  // Frame numbers are valid in one chunk.
  absl::flat_hash_map<FrameKey, CachedFrame> frames_;
  uint64_t reuses_ = 0;            // ClassRegistry::reuses that frames_ is valid for
  const bool records_interrupts_;  // each handler's run, 0x4
  const bool repeats_;             // timer=wall
  absl::flat_hash_map<uint32_t, LastSample> last_;  // by slot
  std::atomic<uint64_t> samples_{0};
  uint64_t awaited_ = 0;
  std::function<void()> reached_;  // null: no number was set
};

}  // namespace jtrace::samples
