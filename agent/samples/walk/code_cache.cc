#include "agent/samples/walk/code_cache.h"

#include <atomic>
#include <cstring>

#include "agent/signal_safe/safe_read.h"

namespace jtrace::samples {
namespace {

constexpr uint8_t kFreeSegment = 0xff;

// Returns the begin of the heap block that covers `pc`, 0 if it is free. A segment's map entry is
// how many segments to go back, at most kFreeSegment - 1 in one hop; 0: a block begins here.
uintptr_t FindBlock(const VmLayout& vm, const VmLayout::CodeHeap& heap, uintptr_t pc) {
  const uintptr_t low = *heap.low;
  const auto* map = reinterpret_cast<const uint8_t*>(*heap.segment_map);
  uintptr_t segment = (pc - low) >> heap.segment_shift;
  if (map[segment] == kFreeSegment) return 0;
  while (map[segment] > 0) {
    if (map[segment] == kFreeSegment || map[segment] > segment) return 0;
    segment -= map[segment];
  }
  const uintptr_t block = low + (segment << heap.segment_shift);
  return FieldAt<uint8_t>(block, vm.heap_block_used) != 0 ? block : 0;
}

constexpr int kNameBytes = 24;

// Reads the begin of the string at `address`, zero-terminated; false if it cannot be read.
bool ReadName(uintptr_t address, char (&name)[kNameBytes]) {
  const uintptr_t skip = address % 8;
  for (int i = 0; i < kNameBytes; i += 8) {
    uintptr_t low, high = 0;
    if (!signal_safe::SafeReadWord(address - skip + i, &low)) return false;
    if (skip != 0) signal_safe::SafeReadWord(address - skip + i + 8, &high);
    const uintptr_t word = skip == 0 ? low : low >> (skip * 8) | high << (64 - skip * 8);
    std::memcpy(name + i, &word, 8);
    if (std::memchr(name + i, 0, 8) != nullptr) break;
  }
  name[kNameBytes - 1] = 0;
  return true;
}

bool StartsWith(const char* text, const char* prefix) {
  return std::strncmp(text, prefix, std::strlen(prefix)) == 0;
}

BlobKind KindOfName(const char* name) {
  if (std::strcmp(name, "nmethod") == 0) return BlobKind::kNmethod;
  if (std::strcmp(name, "native nmethod") == 0) return BlobKind::kNativeNmethod;
  if (std::strcmp(name, "Interpreter") == 0) return BlobKind::kInterpreter;
  if (StartsWith(name, "StubRoutines")) return BlobKind::kStubRoutines;
  if (StartsWith(name, "vtable") || StartsWith(name, "itable")) return BlobKind::kVtable;
  if (StartsWith(name, "InlineCacheBuffer")) return BlobKind::kVtable;
  if (StartsWith(name, "I2C/C2I")) return BlobKind::kAdapter;
  if (StartsWith(name, "MethodHandles")) return BlobKind::kMethodHandle;
  return BlobKind::kOther;
}

// Kinds by the address of the name, which is the same for all blobs of a kind: address in the upper
// bits, kind in the lowest byte of one word, so that an entry is never torn.
constexpr int kKindCacheBits = 6;
constinit std::atomic<uint64_t> kind_cache[1 << kKindCacheBits];

BlobKind KindByName(uintptr_t name_address) {
  const uint64_t hash = name_address * 0x9e37'79b9'7f4a'7c15;
  std::atomic<uint64_t>& entry = kind_cache[hash >> (64 - kKindCacheBits)];
  const uint64_t cached = entry.load(std::memory_order_relaxed);
  if (cached >> 8 == name_address) return static_cast<BlobKind>(cached & 0xff);
  char name[kNameBytes] = {};
  if (!ReadName(name_address, name)) return BlobKind::kUnknown;
  const BlobKind kind = KindOfName(name);
  entry.store(name_address << 8 | static_cast<uint64_t>(kind), std::memory_order_relaxed);
  return kind;
}

// HotSpot's CodeBlobKind, where a blob has one.
constexpr uint8_t kFirstRuntimeKind = 6;
constexpr uint8_t kLastRuntimeKind = 10;
constexpr uint8_t kUpcallKind = 11;

BlobKind Classify(const VmLayout& vm, uintptr_t blob, int32_t frame_size) {
  const BlobKind kind = KindByName(FieldAt<uintptr_t>(blob, vm.blob.name));
  if (kind != BlobKind::kOther) return kind;
  if (vm.blob.kind != kAbsent) {
    const auto vm_kind = FieldAt<uint8_t>(blob, vm.blob.kind);
    if (vm_kind == kUpcallKind) return BlobKind::kUpcall;
    if (vm_kind >= kFirstRuntimeKind && vm_kind <= kLastRuntimeKind) return BlobKind::kRuntimeStub;
  }
  return frame_size > 0 ? BlobKind::kRuntimeStub : BlobKind::kOther;
}

}  // namespace

bool FindBlob(const VmLayout& vm, uintptr_t pc, CodeBlob* blob) {
  for (int i = 0; i < vm.heap_count; ++i) {
    const VmLayout::CodeHeap& heap = vm.heaps[i];
    if (pc < *heap.low || pc >= *heap.high) continue;
    const uintptr_t block = FindBlock(vm, heap, pc);
    if (block == 0) return false;
    const uintptr_t address = block + vm.heap_block_header;
    blob->address = address;
    blob->end = address + static_cast<uintptr_t>(FieldAt<int32_t>(address, vm.blob.size));
    blob->code =
        vm.blob.code_offset != kAbsent
            ? address + static_cast<uintptr_t>(FieldAt<int32_t>(address, vm.blob.code_offset))
            : FieldAt<uintptr_t>(address, vm.blob.code_begin);
    blob->frame_size = FieldAt<int32_t>(address, vm.blob.frame_size);
    if (pc < address || pc >= blob->end || blob->end > *heap.high) return false;
    if (blob->code < address || blob->code > blob->end) return false;
    blob->kind = Classify(vm, address, blob->frame_size);
    if (blob->IsCompiled() && !vm.compiled_code_readable.load(std::memory_order_relaxed)) {
      blob->kind = BlobKind::kUnknown;
    }
    return true;
  }
  return false;
}

}  // namespace jtrace::samples
