#include "agent/samples/walk/frame_cache.h"

#include <atomic>

#include "agent/samples/walk/code_cache.h"

namespace jtrace::samples {
namespace {

uint64_t Mix(uint64_t value) { return value * 0x9e37'79b9'7f4a'7c15; }

// Two cache lines; frames of up to four methods need only the first. Words: a checksum over the
// others and the pc, so that an entry that two handlers store at once, or one of another pc, does
// not match; the nmethod; its identity; the shape; the methods.
constexpr uint32_t kHeadWords = 4;
struct alignas(128) Entry {
  std::atomic<uint64_t> words[kHeadWords + CachedFrame::kMaxMethods];
};
static_assert(sizeof(Entry) == 128);

constexpr int kCacheBits = 14;
alignas(kHugePage) constinit Entry cache[1 << kCacheBits];
static_assert(sizeof cache % kHugePage == 0);

// Code is below 2^47: the bit that marks interrupted pcs is free.
uint64_t KeyOf(uintptr_t pc, bool interrupted) { return pc | uint64_t{interrupted} << 63; }
Entry& EntryOf(uint64_t key) { return cache[Mix(key) >> (64 - kCacheBits)]; }

// Identifies the compilation of an nmethod. Numbers are unique, but on-stack replacements may have
// their own; so the method is part of it.
uint64_t IdentityOf(const VmLayout& vm, uintptr_t nmethod) {
  return Mix(FieldAt<uintptr_t>(nmethod, vm.nmethod.method)) ^
         FieldAt<uint32_t>(nmethod, vm.nmethod.compile_id);
}

// A CachedFrame without nmethod and methods, in one word; slots are in words of 8 bytes.
constexpr uint32_t kSlotBits = 20;
struct Shape {
  uint64_t return_slot : kSlotBits;
  uint64_t fp_slot : kSlotBits + 1;  // + kFpBias: it may be in the red zone
  uint64_t own_fp : 1;
  uint64_t misaligned : 1;
  uint64_t count : 4;
  uint64_t sp_on_top : 1;
};
constexpr int32_t kFpBias = 16;

bool PackShape(const CachedFrame& frame, uint64_t* word) {
  const bool own_fp = frame.fp_offset == CachedFrame::kOwnFp;
  const int32_t fp_slot = own_fp ? 0 : frame.fp_offset / 8 + kFpBias;
  if (frame.return_offset / 8 >= 1u << kSlotBits || fp_slot < 0 || fp_slot >= 1 << kSlotBits) {
    return false;
  }
  const Shape shape = {frame.return_offset / 8,
                       static_cast<uint64_t>(fp_slot),
                       own_fp,
                       frame.sp_misaligned,
                       frame.count,
                       frame.sp_on_top};
  *word = __builtin_bit_cast(uint64_t, shape);
  return true;
}

void UnpackShape(uint64_t word, CachedFrame* frame) {
  const auto shape = __builtin_bit_cast(Shape, word);
  frame->return_offset = static_cast<uint32_t>(shape.return_slot * 8);
  frame->fp_offset =
      shape.own_fp != 0 ? CachedFrame::kOwnFp : (static_cast<int32_t>(shape.fp_slot) - kFpBias) * 8;
  frame->sp_misaligned = shape.misaligned != 0;
  frame->count = static_cast<uint32_t>(shape.count);
  frame->sp_on_top = shape.sp_on_top != 0;
}

// A method: 44 bits jmethodID or Method / 8; 15 bits bci + 1; whether it is inlined; four flags.
constexpr int kIdBits = 44;
constexpr int kBciBits = 15;

bool PackMethod(const Frame& frame, uint64_t* word) {
  const uint64_t bci = static_cast<uint32_t>(frame.bci + 1);
  const bool inlined = frame.kind == FrameKind::kInlined;
  if (!inlined && frame.kind != FrameKind::kCompiled) return false;
  if (frame.flags >> 4 != 0) return false;
  if (frame.value % 8 != 0 || frame.value >> (kIdBits + 3) != 0 || bci >> kBciBits != 0) {
    return false;
  }
  *word = frame.value / 8 | bci << kIdBits | uint64_t{inlined} << (kIdBits + kBciBits) |
          uint64_t{frame.flags} << (kIdBits + kBciBits + 1);
  return true;
}

Frame UnpackMethod(uint64_t word) {
  const uint64_t id = (word & ((uint64_t{1} << kIdBits) - 1)) * 8;
  const auto bci = static_cast<int32_t>(word >> kIdBits & ((1u << kBciBits) - 1)) - 1;
  const bool inlined = (word >> (kIdBits + kBciBits) & 1) != 0;
  const auto flags = static_cast<uint8_t>(word >> (kIdBits + kBciBits + 1));
  return {id, bci, inlined ? FrameKind::kInlined : FrameKind::kCompiled, flags, 0};
}

uint64_t Checksum(uint64_t key, const uint64_t* words, uint32_t count) {
  uint64_t sum = key;
  for (uint32_t i = 0; i < count; ++i) sum = (sum ^ words[i]) * 0x9e37'79b9'7f4a'7c15 + (sum >> 29);
  return sum;
}

}  // namespace

MemoryRange FrameCacheMemory() { return {cache, sizeof cache}; }

bool FindCachedFrame(const VmLayout& vm, uintptr_t pc, bool interrupted, CachedFrame* frame) {
  if (vm.nmethod.compile_id == kAbsent) return false;
  const uint64_t key = KeyOf(pc, interrupted);
  const Entry& entry = EntryOf(key);
  uint64_t words[kHeadWords + CachedFrame::kMaxMethods];
  const auto load = [&](uint32_t i) { words[i] = entry.words[i].load(std::memory_order_relaxed); };
  for (uint32_t i = 0; i < kHeadWords; ++i) load(i);
  UnpackShape(words[3], frame);
  if (frame->count == 0 || frame->count > CachedFrame::kMaxMethods) return false;
  const uint32_t end = kHeadWords + frame->count;
  for (uint32_t i = kHeadWords; i < end; ++i) load(i);
  if (words[0] != Checksum(key, words + 1, end - 1)) return false;
  frame->nmethod = words[1];
  if (IdentityOf(vm, frame->nmethod) != words[2]) return false;
  for (uint32_t i = 0; i < frame->count; ++i) {
    frame->methods[i] = UnpackMethod(words[kHeadWords + i]);
  }
  return true;
}

void PrefetchCachedFrame(uintptr_t pc, bool interrupted) {
  const Entry& entry = EntryOf(KeyOf(pc, interrupted));
  __builtin_prefetch(&entry.words[0]);
  __builtin_prefetch(&entry.words[8]);
}

void CacheFrame(const VmLayout& vm, uintptr_t pc, bool interrupted, const CachedFrame& frame) {
  if (vm.nmethod.compile_id == kAbsent) return;
  if (frame.count == 0 || frame.count > CachedFrame::kMaxMethods) return;
  uint64_t words[kHeadWords + CachedFrame::kMaxMethods];
  words[1] = frame.nmethod;
  words[2] = IdentityOf(vm, frame.nmethod);
  if (!PackShape(frame, &words[3])) return;
  const uint32_t end = kHeadWords + frame.count;
  for (uint32_t i = kHeadWords; i < end; ++i) {
    if (!PackMethod(frame.methods[i - kHeadWords], &words[i])) return;
  }
  const uint64_t key = KeyOf(pc, interrupted);
  words[0] = Checksum(key, words + 1, end - 1);
  Entry& entry = EntryOf(key);
  for (uint32_t i = 0; i < end; ++i) entry.words[i].store(words[i], std::memory_order_relaxed);
}

void EvictCachedFrames(uintptr_t nmethod) {
  for (Entry& entry : cache) {
    if (entry.words[1].load(std::memory_order_relaxed) != nmethod) continue;
    entry.words[0].fetch_add(1, std::memory_order_relaxed);  // no entry's checksum any more
  }
}

void EvictAllFrames() {
  for (Entry& entry : cache) entry.words[0].fetch_add(1, std::memory_order_relaxed);
}

}  // namespace jtrace::samples
