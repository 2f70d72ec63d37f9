#include "agent/jvm/hotspot/debug_non_safepoints.h"

#include <link.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "agent/samples/walk/call_instruction.h"
#include "agent/samples/walk/debug_info.h"
#include "agent/samples/walk/frame_cache.h"

namespace jtrace::jvm {
namespace {

using Scope = samples::DebugInfo::Scope;

// The fewest calls that allow a verdict.
constexpr int kFewestCalls = 24;
constexpr int kSoundShare = 4;  // at least one call in so many fits in sound debug information
// Code farther before a call may belong to any method.
constexpr int32_t kNearBytes = 80;
constexpr size_t kMaxInlineDepth = 200;

// A described instruction, and the methods that are active there, the innermost first.
struct Row {
  int32_t pc = 0;
  bool is_call = true;
  std::vector<Scope> scopes;
};

// Whether a call ends at `pc`, an offset in the code. Plain loads: the code cache stays mapped.
bool FollowsCall(const samples::CodeBlob& nmethod, int32_t pc) {
  constexpr int32_t kBytes = 8;
  if (pc < kBytes || nmethod.code + static_cast<uintptr_t>(pc) > nmethod.end) return false;
  uint8_t bytes[kBytes];
  std::memcpy(bytes, reinterpret_cast<const uint8_t*>(nmethod.code) + pc - kBytes, kBytes);
  return samples::EndsWithCall(bytes);
}

void ReadScopes(const samples::DebugInfo& info, int32_t scope, std::vector<Scope>& scopes) {
  scopes.clear();
  Scope read;
  while (scope > 0 && scopes.size() < kMaxInlineDepth && info.ReadScope(scope, &read)) {
    scopes.push_back(read);
    scope = read.sender;
  }
}

// Whether both have the same methods from the outermost on, up to the length of the shorter one.
bool Fit(const std::vector<Scope>& a, const std::vector<Scope>& b) {
  const size_t common = std::min(a.size(), b.size());
  for (size_t i = 1; i <= common; ++i) {
    const Scope &in_a = a[a.size() - i], &in_b = b[b.size() - i];
    if (in_a.method != in_b.method) return false;
    if (i < common && in_a.bci != in_b.bci) return false;
  }
  return true;
}

constexpr std::string_view kFlag = "DebugNonSafepoints";

struct FlagAddress {
  uintptr_t address;
  uintptr_t libjvm;
  bool is_data;
};

bool Covers(const dl_phdr_info& object, const ElfW(Phdr) & part, uintptr_t address) {
  const uintptr_t begin = object.dlpi_addr + part.p_vaddr;
  return address >= begin && address - begin < part.p_memsz;
}

// For dl_iterate_phdr. Of the object that contains `libjvm`: sets is_data to whether the flag is in
// memory that the loader leaves writable.
int IsInData(dl_phdr_info* object, size_t, void* data) {
  FlagAddress& flag = *static_cast<FlagAddress*>(data);
  bool is_object = false, is_writable = false, is_fixed = false;
  for (const ElfW(Phdr) & part : std::span(object->dlpi_phdr, object->dlpi_phnum)) {
    const bool covers = Covers(*object, part, flag.address);
    is_object |= part.p_type == PT_LOAD && Covers(*object, part, flag.libjvm);
    is_writable |= covers && part.p_type == PT_LOAD && (part.p_flags & PF_W) != 0;
    is_fixed |= covers && part.p_type == PT_GNU_RELRO;
  }
  if (!is_object) return 0;
  flag.is_data = is_writable && !is_fixed;
  return 1;
}

// Whether the table of flags gives the size of the code cache, which the JVM rounds up.
bool AreRight(const JvmFlags& flags, const samples::VmLayout& layout) {
  constexpr int64_t kMaxRounding = 4 << 20;
  if (layout.code_low == nullptr || layout.code_high == nullptr) return false;
  const auto bytes = static_cast<int64_t>(*layout.code_high - *layout.code_low);
  const std::optional<int64_t> reserved = flags.Int("ReservedCodeCacheSize");
  return reserved.has_value() && *reserved > 0 && bytes >= *reserved &&
         bytes - *reserved < kMaxRounding;
}

// Atomic, because compilers read the flag at the same time.
void Store(uintptr_t flag, bool on) {
  __atomic_store_n(reinterpret_cast<bool*>(flag), on, __ATOMIC_RELAXED);
}

bool Has(const AddressSet& set, uintptr_t compilation) {
  return set.published()->load(std::memory_order_acquire)->Contains(compilation);
}

}  // namespace

bool DebugInfoIsWrong(const samples::VmLayout& vm, const samples::CodeBlob& nmethod) {
  const samples::DebugInfo info(vm, nmethod);
  int looked_at = 0, fitting = 0;
  Row before, row;
  for (int i = 0; i < info.count(); ++i) {
    samples::DebugInfo::PcDesc desc;
    if (!info.ReadPcDesc(i, &desc)) break;
    if (desc.scope <= 0) continue;
    row.pc = desc.pc;
    row.is_call = FollowsCall(nmethod, desc.pc);
    // Calls are compared with a near instruction directly before them that is not a call.
    const bool is_looked_at = row.is_call && !before.is_call && row.pc - before.pc <= kNearBytes;
    if (is_looked_at || !row.is_call) ReadScopes(info, desc.scope, row.scopes);
    if (is_looked_at) {
      ++looked_at;
      fitting += Fit(before.scopes, row.scopes);
    }
    std::swap(before, row);
  }
  return looked_at >= kFewestCalls && fitting * kSoundShare < looked_at;
}

void NonSafepointsFlag::Find(const JvmFlags& flags, const samples::VmLayout& layout,
                             const void* libjvm_address) {
  const absl::MutexLock lock(&mutex_);
  if (flag_ != 0 || !AreRight(flags, layout)) return;
  const std::optional<bool> is_default = flags.IsDefault(kFlag);
  if (!flags.Bool(kFlag).has_value() || !is_default.has_value()) return;
  FlagAddress flag{flags.AddressOf(kFlag), reinterpret_cast<uintptr_t>(libjvm_address), false};
  dl_iterate_phdr(IsInData, &flag);
  if (!flag.is_data) return;
  flag_ = flag.address;
  is_chosen_ = !*is_default;
}

bool NonSafepointsFlag::TurnOn() {
  const absl::MutexLock lock(&mutex_);
  if (flag_ == 0) return false;
  if (is_chosen_ || is_changed_ || *reinterpret_cast<const bool*>(flag_)) return true;
  Store(flag_, true);
  is_changed_ = true;
  return true;
}

void NonSafepointsFlag::TurnOff() {
  const absl::MutexLock lock(&mutex_);
  if (!is_changed_) return;
  Store(flag_, false);
  is_changed_ = false;
}

void NonSafepointsCheck::Publish() {
  layout_->checked_code = checked_.published();
  layout_->unreliable_code = unreliable_.published();
}

void NonSafepointsCheck::Clear() {
  checked_.Clear();
  unreliable_.Clear();
}

void NonSafepointsCheck::Check(const samples::CodeBlob& nmethod) {
  const uintptr_t compilation = samples::CompilationKey(*layout_, nmethod.address);
  if (Has(checked_, compilation)) return;
  Add(compilation, DebugInfoIsWrong(*layout_, nmethod), nmethod.address);
}

void NonSafepointsCheck::Add(uintptr_t compilation, bool wrong, uintptr_t nmethod) {
  if (wrong) {
    unreliable_.Add(compilation);
    samples::EvictCachedFrames(nmethod);
  }
  checked_.Add(compilation);
}

bool NonSafepointsCheck::Find(const samples::UncheckedFrame& frame,
                              samples::CodeBlob* nmethod) const {
  return samples::FindBlob(*layout_, frame.pc, nmethod) && nmethod->IsCompiled() &&
         samples::CompilationKey(*layout_, nmethod->address) == frame.compilation;
}

bool NonSafepointsCheck::Correct(const samples::UncheckedFrame& frame,
                                 std::vector<samples::Frame>* methods) {
  samples::CodeBlob nmethod;
  if (!Find(frame, &nmethod)) return false;
  if (!Has(checked_, frame.compilation)) {
    const bool wrong = DebugInfoIsWrong(*layout_, nmethod);
    if (!Find(frame, &nmethod)) return false;  // perhaps it was freed, and other memory was read
    Add(frame.compilation, wrong, nmethod.address);
  }
  if (!Has(unreliable_, frame.compilation)) return false;
  constexpr uint32_t kMaxMethods = 256;
  methods->resize(kMaxMethods);
  samples::Chain chain(methods->data(), kMaxMethods);
  const bool found =
      samples::DebugInfo(*layout_, nmethod).PushScopes(frame.pc, /*interrupted=*/true, 0, chain);
  if (!found || !Find(frame, &nmethod)) return false;
  methods->resize(chain.pushed());
  return true;
}

}  // namespace jtrace::jvm
