// The result of a stack walk: the frames from the interrupted one to the thread's first.
#pragma once

#include <cstdint>

namespace jtrace::samples {

// The numbers are those of proto Frame.Kind.
enum class FrameKind : uint8_t {
  kUnknown = 0,
  // The value of a Java frame is HotSpot's Method* (kFrameRawMethod), or a jmethodID.
  kInterpreted = 1,
  kCompiled = 2,
  kInlined = 3,  // the frame after it is the one it was inlined into
  kNative = 4,   // value: address: the interrupted pc, or a return address
  kStub = 5,     // value: address in JVM-generated code that belongs to no method
  kKernel = 6,   // value: kernel address
  kMarker = 7,   // value: MissingReason: why frames are missing here
};

// Why a chain has a hole or ended early. Values are stable: they index the counters.
enum class MissingReason : uint8_t {
  kNone = 0,
  kTruncated,         // deeper than the limit: frames between the leaf and root parts are missing
  kNoModule,          // a native pc outside of all loaded objects
  kNoUnwindRow,       // native code without unwind information, and no guess was valid
  kUnsupportedRow,    // unwind information that the small interpreter does not support
  kBadCfa,            // unwinding left the stack
  kNoBlob,            // a pc in a free part of the code cache
  kCompiledCaller,    // no valid caller of a compiled frame
  kInterpretedFrame,  // the interpreter's frame is not (or no longer) valid
  kStubCaller,        // no valid caller of a stub
  kEntryFrame,        // Java called from native code, but the entry frame is not valid
  kFrozenFrames,      // a virtual thread's frames that are still in the heap: hole, chain continues
  kContinuation,      // a continuation's entry was not found
  kSkeletonFrame,     // an interpreter frame being built by deoptimisation: hole, chain continues
  kNoProgress,        // the stack pointer did not rise
  kNoJavaLayout,      // Java frames, but this JVM's layout is not known
  kStepLimit,         // more steps than any real stack has
  kNoStackRoom,       // the handler is on an alternate stack that is too small for a walk
  kCount
};
const char* MissingReasonName(MissingReason reason);

// The bits of Frame::flags.
enum FrameFlags : uint8_t {
  kFrameRawMethod = 1,  // value is the Method* itself: it has no jmethodID (yet), or none is needed
  kFrameC1 = 2,         // compiled by C1 (tiers 1 to 3)
  kFrameJniWrapper = 4,  // the compiled wrapper of a native method
  kFrameLeafEntry = 8,   // interrupted while entering: the frame was not built yet
};

// FrameKind says what `value` is.
struct Frame {
  uint64_t value;
  int32_t bci;  // bytecode index; -1: unknown or none (native methods)
  FrameKind kind;
  uint8_t flags;
  uint16_t reserved;
};
static_assert(sizeof(Frame) == 16);

inline bool IsJava(const Frame& frame) {
  return frame.kind == FrameKind::kInterpreted || frame.kind == FrameKind::kCompiled ||
         frame.kind == FrameKind::kInlined;
}

// How a walk ended.
enum class ChainEnd : uint8_t {
  kRoot = 0,      // reached the thread's first frame, every step certain or checked
  kRootGuessed,   // reached it, but a caller had to be searched for on the stack
  kRootWithHole,  // reached it; a marker shows the hole in between
  kFailed,        // ended early; the last frame is a marker with the reason
  kCount,
};

// An interrupted frame whose code is not in VmLayout::checked_code: its debug information may be
// wrong, and the reader of the sample checks it.
struct UncheckedFrame {
  uintptr_t pc = 0;           // 0: there is none
  uintptr_t compilation = 0;  // CompilationKey
  uint32_t first = 0;         // index in the chain of the frame's innermost method
  uint32_t count = 0;         // number of its methods
};

// Collects frames, leaf first, in storage of the caller. Past the capacity, the leaf half stays and
// the other half keeps the frames pushed last, so that the root side survives; CopyTo puts a marker
// in the hole. The root end of the chain may be in other storage, the base. Async-signal-safe.
class Chain {
 public:
  // capacity >= 2.
  Chain(Frame* storage, uint32_t capacity)
      : frames_(storage), capacity_(capacity), leaf_(capacity / 2) {}

  void Push(FrameKind kind, uint64_t value, int32_t bci, uint8_t flags = 0) {
    frames_[IndexOf(pushed_)] = Frame{value, bci, kind, flags, 0};
    ++pushed_;
  }
  void PushMarker(MissingReason reason) {
    Push(FrameKind::kMarker, static_cast<uint64_t>(reason), -1);
  }

  void SetGuessed() { guessed_ = true; }
  void AddHole(MissingReason reason) {
    PushMarker(reason);
    hole_ = true;
  }
  // Ends the chain early.
  void Fail(MissingReason reason) {
    PushMarker(reason);
    failure_ = reason;
  }
  // Sets the rest of the chain: `count` frames, the root first, which must stay until CopyTo.
  void SetBase(const Frame* root_first, uint32_t count) {
    base_ = root_first;
    base_count_ = count;
  }

  // Marks the frames from `frame.first` on, which were just pushed. Only the first mark is kept: a
  // later one is of a frame below a signal frame.
  void SetUnchecked(const UncheckedFrame& frame) {
    if (unchecked_.pc == 0) unchecked_ = frame;
  }
  const UncheckedFrame& unchecked() const { return unchecked_; }

  // Forgets the frames pushed so far; guesses and holes stay noted.
  void Clear() { pushed_ = 0; }
  // Reduces the chain to one of its pushed frames. It is complete, whatever the walk found later.
  void KeepOnly(uint32_t index) {
    frames_[0] = frames_[index];
    pushed_ = 1;
    hole_ = false;
    failure_ = MissingReason::kNone;
  }

  MissingReason failure() const { return failure_; }
  ChainEnd end() const {
    if (failure_ != MissingReason::kNone) return ChainEnd::kFailed;
    if (hole_ || pushed_ > capacity_) return ChainEnd::kRootWithHole;
    return guessed_ ? ChainEnd::kRootGuessed : ChainEnd::kRoot;
  }
  // Frames pushed here, without the base.
  uint32_t pushed() const { return pushed_; }
  // Whether the first `count` frames pushed are all still there.
  bool Holds(uint32_t count) const { return count <= capacity_ && pushed_ <= capacity_; }
  // The frame pushed last; pushed() > 0.
  const Frame& last() const { return frames_[IndexOf(pushed_ - 1)]; }
  // A pushed frame; index < pushed() <= capacity.
  const Frame& pushed_frame(uint32_t index) const { return frames_[index]; }

  // Frames that are present, with the base, and the `index`-th of them from the leaf.
  uint32_t size() const { return (pushed_ < capacity_ ? pushed_ : capacity_) + base_count_; }
  const Frame& frame(uint32_t index) const;

  // Whether CopyTo leaves frames out.
  bool Truncates(uint32_t limit) const {
    return pushed_ > capacity_ || pushed_ + base_count_ > limit;
  }
  // Frames that CopyTo writes, at most limit + 1.
  uint32_t SizeWithin(uint32_t limit) const;
  // Returns a hash of the frames and the failure, 0 if frames are missing.
  uint64_t Fingerprint() const;
  // Writes the frames, leaf first. Of more than `limit` (2 <= limit <= capacity) it writes the leaf
  // and root halves, with a kTruncated marker between them whose bci is how many are missing.
  void CopyTo(Frame* out, uint32_t limit) const;

 private:
  // Index in frames_ of the frame that is pushed after `before` others.
  uint32_t IndexOf(uint32_t before) const {
    return before < capacity_ ? before : leaf_ + (before - capacity_) % (capacity_ - leaf_);
  }

  Frame* const frames_;
  const uint32_t capacity_;
  const uint32_t leaf_;
  uint32_t pushed_ = 0;
  const Frame* base_ = nullptr;
  uint32_t base_count_ = 0;
  bool guessed_ = false;
  bool hole_ = false;
  MissingReason failure_ = MissingReason::kNone;
  UncheckedFrame unchecked_;
};

}  // namespace jtrace::samples
