// The result of a stack walk: the frames from the interrupted one to the thread's first.
#ifndef JTRACE_AGENT_HOT_WALK_CHAIN_H_
#define JTRACE_AGENT_HOT_WALK_CHAIN_H_

#include <cstdint>
#include <cstring>

namespace jtrace::hot {

// The numbers are those of proto Frame.Kind.
enum class FrameKind : uint8_t {
  kUnknown = 0,
  kInterpreted = 1,  // value: jmethodID
  kCompiled = 2,     // value: jmethodID
  kInlined = 3,      // value: jmethodID; the frame after it is the one it was inlined into
  kNative = 4,       // value: address: the interrupted pc, or a return address
  kStub = 5,         // value: address in JVM-generated code that belongs to no method
  kKernel = 6,       // value: kernel address
  kMarker = 7,       // value: WalkNote: why frames are missing here
};

// Why a chain has a hole or ended early. Values are stable: they index the counters.
enum class WalkNote : uint8_t {
  kNone = 0,
  kTruncated,         // deeper than the cap: the frames between leaf and root part are missing
  kNoModule,          // a native pc that lies in no loaded object
  kNoUnwindRow,       // native code without unwind information, and no guess held
  kUnsupportedRow,    // unwind information the small interpreter cannot do
  kBadCfa,            // unwinding left the stack
  kNoBlob,            // a pc in a free part of the code cache
  kCompiledCaller,    // no valid caller of a compiled frame
  kInterpretedFrame,  // the interpreter's frame is not (or no longer) valid
  kStubCaller,        // no valid caller of a stub
  kEntryFrame,        // Java called from native code, but the entry frame is not valid
  kFrozenFrames,      // frames of a virtual thread that are still in the heap: hole, chain goes on
  kContinuation,      // a continuation's entry was not found
  kSkeletonFrame,     // an interpreter frame being built by deoptimisation: hole, chain goes on
  kNoProgress,        // the stack pointer did not rise
  kNoJavaLayout,      // Java frames, but this JVM's layout is not known
  kStepLimit,         // more steps than any real stack has
  kCount
};
const char* WalkNoteName(WalkNote note);

enum FrameFlags : uint8_t {
  kFrameRawMethod = 1,   // value is the Method* itself: it has no jmethodID (yet)
  kFrameC1 = 2,          // compiled by C1 (tiers 1 to 3)
  kFrameJniWrapper = 4,  // the compiled wrapper of a native method
  kFrameLeafEntry = 8,   // interrupted while entering: the frame was not built yet
};

struct Frame {
  uint64_t value;
  int32_t bci;  // bytecode index; -1: unknown or none (native methods)
  FrameKind kind;
  uint8_t flags;
  uint16_t reserved;
};
static_assert(sizeof(Frame) == 16);

enum class ChainEnd : uint8_t {
  kRoot = 0,      // reached the thread's first frame, every step certain or checked
  kRootGuessed,   // reached it, but a caller had to be searched for on the stack
  kRootWithHole,  // reached it; a marker says what is missing in between
  kFailed,        // ended early; the last frame is a marker with the reason
};

// Collects frames in caller-provided storage. Past the capacity, the leaf half stays and the other
// half keeps the newest pushed frames, so that the root side survives; a marker takes the hole.
// Plain memory only: async-signal-safe.
class Chain {
 public:
  // capacity >= 2.
  Chain(Frame* storage, uint32_t capacity)
      : frames_(storage), capacity_(capacity), leaf_(capacity / 2) {}

  void Push(FrameKind kind, uint64_t value, int32_t bci, uint8_t flags = 0) {
    const uint32_t at =
        pushed_ < capacity_ ? pushed_ : leaf_ + (pushed_ - capacity_) % (capacity_ - leaf_);
    frames_[at] = Frame{value, bci, kind, flags, 0};
    ++pushed_;
  }
  void PushMarker(WalkNote note, int32_t missing = -1) {
    Push(FrameKind::kMarker, static_cast<uint64_t>(note), missing);
  }

  void NoteGuess() { guessed_ = true; }
  void NoteHole(WalkNote note) {
    PushMarker(note);
    hole_ = true;
  }
  // Ends the chain early.
  void Fail(WalkNote note) {
    PushMarker(note);
    failure_ = note;
  }

  WalkNote failure() const { return failure_; }
  bool truncated() const { return pushed_ > capacity_; }
  ChainEnd end() const {
    if (failure_ != WalkNote::kNone) return ChainEnd::kFailed;
    if (hole_ || truncated()) return ChainEnd::kRootWithHole;
    return guessed_ ? ChainEnd::kRootGuessed : ChainEnd::kRoot;
  }
  uint32_t pushed() const { return pushed_; }
  // Frames that CopyTo writes.
  uint32_t size() const { return truncated() ? capacity_ + 1 : pushed_; }

  // Writes size() frames, leaf first.
  void CopyTo(Frame* out) const {
    if (!truncated()) {
      std::memcpy(out, frames_, pushed_ * sizeof(Frame));
      return;
    }
    std::memcpy(out, frames_, leaf_ * sizeof(Frame));
    const uint32_t missing = pushed_ - capacity_;
    out[leaf_] = Frame{static_cast<uint64_t>(WalkNote::kTruncated), static_cast<int32_t>(missing),
                       FrameKind::kMarker, 0, 0};
    const uint32_t ring = capacity_ - leaf_;
    const uint32_t oldest = missing % ring;
    Frame* to = out + leaf_ + 1;
    std::memcpy(to, frames_ + leaf_ + oldest, (ring - oldest) * sizeof(Frame));
    std::memcpy(to + (ring - oldest), frames_ + leaf_, oldest * sizeof(Frame));
  }

 private:
  Frame* const frames_;
  const uint32_t capacity_;
  const uint32_t leaf_;
  uint32_t pushed_ = 0;
  bool guessed_ = false;
  bool hole_ = false;
  WalkNote failure_ = WalkNote::kNone;
};

}  // namespace jtrace::hot

#endif  // JTRACE_AGENT_HOT_WALK_CHAIN_H_
