#include "agent/samples/walk/jmethod_ids.h"

#include <atomic>
#include <optional>

#include "agent/signal_safe/safe_read.h"

namespace jtrace::samples {
namespace {

bool IsPointer(uintptr_t value) { return value >= 4096 && value % 8 == 0; }

// Returns the pointer at object + offset; 0 if there is none or it does not look like one.
uintptr_t Follow(uintptr_t object, Offset offset) {
  const uintptr_t value = signal_safe::SafeReadOr0(object + static_cast<uintptr_t>(offset));
  return IsPointer(value) ? value : 0;
}

uintptr_t PoolHolder(const VmLayout& vm, uintptr_t const_method) {
  const uintptr_t constants = Follow(const_method, vm.method.constants);
  return constants != 0 ? Follow(constants, vm.method.pool_holder) : 0;
}

// The JVM's array of ids: its length, then the ids by method number.
uintptr_t LookUpMethodId(const VmLayout& vm, uintptr_t method) {
  if (!IsPointer(method)) return 0;
  const uintptr_t const_method = Follow(method, vm.method.const_method);
  if (const_method == 0) return 0;
  const uintptr_t holder = PoolHolder(vm, const_method);
  if (holder == 0) return 0;
  const uintptr_t ids = Follow(holder, vm.method.jmethod_ids);
  uint16_t number;
  if (ids == 0 || !signal_safe::SafeRead(const_method + vm.method.id_number, &number)) return 0;
  if (number >= signal_safe::SafeReadOr0(ids)) return 0;
  const uintptr_t id = signal_safe::SafeReadOr0(ids + 8 * (uintptr_t{number} + 1));
  return IsPointer(id) && signal_safe::SafeReadOr0(id) == method ? id : 0;
}

// Method → id, direct-mapped; key = method ^ id, so that a torn entry does not match. A hit is
// valid only while the id still points to the method; unloading its class ends that.
constexpr int kCacheBits = 12;
struct Entry {
  std::atomic<uint64_t> key;
  std::atomic<uint64_t> id;
};
constinit Entry cache[1 << kCacheBits];

struct Bytecodes {
  uintptr_t begin;
  uint16_t size;

  bool Has(uintptr_t bcp) const { return bcp >= begin && bcp < begin + size; }
};

std::optional<Bytecodes> BytecodesOf(const VmLayout& vm, uintptr_t method) {
  const uintptr_t const_method = Follow(method, vm.method.const_method);
  uint16_t size;
  if (const_method == 0 || !signal_safe::SafeRead(const_method + vm.method.code_size, &size)) {
    return {};
  }
  return Bytecodes{const_method + vm.method.const_method_size, size};
}

}  // namespace

uintptr_t FindMethodId(const VmLayout& vm, uintptr_t method) {
  if (!vm.method.ids_point_to_methods) return 0;
  Entry& entry = cache[(method * 0x9e37'79b9'7f4a'7c15) >> (64 - kCacheBits)];
  const uint64_t cached = entry.id.load(std::memory_order_relaxed);
  if (cached != 0 && (entry.key.load(std::memory_order_relaxed) ^ cached) == method &&
      signal_safe::SafeReadOr0(cached) == method) {
    return cached;
  }
  const uintptr_t id = LookUpMethodId(vm, method);
  if (id != 0) {
    entry.id.store(id, std::memory_order_relaxed);
    entry.key.store(method ^ id, std::memory_order_relaxed);
  }
  return id;
}

bool LooksLikeMethod(const VmLayout& vm, uintptr_t method) {
  if (!IsPointer(method)) return false;
  const uintptr_t const_method = Follow(method, vm.method.const_method);
  return const_method != 0 && PoolHolder(vm, const_method) != 0;
}

int32_t BytecodeIndex(const VmLayout& vm, uintptr_t method, uintptr_t bcp) {
  const std::optional<Bytecodes> code = BytecodesOf(vm, method);
  return code && code->Has(bcp) ? static_cast<int32_t>(bcp - code->begin) : -1;
}

bool MayRun(const VmLayout& vm, uintptr_t method, uintptr_t bcp) {
  const std::optional<Bytecodes> code = BytecodesOf(vm, method);
  if (!code) return false;
  return code->size == 0 ? bcp == 0 || bcp == code->begin : code->Has(bcp);
}

void PushMethod(const VmLayout& vm, Chain& chain, FrameKind kind, uintptr_t method, int32_t bci,
                uint8_t flags) {
  const bool wanted = vm.method.ids_are_needed.load(std::memory_order_relaxed);
  const uintptr_t id = wanted ? FindMethodId(vm, method) : 0;
  if (id != 0) {
    chain.Push(kind, id, bci, flags);
  } else {
    chain.Push(kind, method, bci, flags | kFrameRawMethod);
  }
}

}  // namespace jtrace::samples
