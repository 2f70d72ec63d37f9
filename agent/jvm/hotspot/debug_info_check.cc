#include "agent/jvm/hotspot/debug_info_check.h"

#include <algorithm>
#include <span>

#include "agent/samples/walk/debug_info.h"
#include "agent/signal_safe/safe_read.h"

namespace jtrace::jvm {
namespace {

constexpr uint32_t kBiases[] = {0, 1};
// The number of compilations needed for a decision.
constexpr int kEnough = 16;
// The rows of a compilation that are compared.
constexpr size_t kMaxRows = 32;

// Whether the debug information at the row's pc has the row's methods and bytecode indexes.
bool IsRow(const samples::VmLayout& vm, const samples::DebugInfo& info, const PCStackInfo& row) {
  int32_t at = info.ScopeAt(reinterpret_cast<uintptr_t>(row.pc));
  for (jint i = 0; i < row.numstackframes; ++i) {
    samples::DebugInfo::Scope scope;
    if (at <= 0 || !info.ReadScope(at, &scope) || scope.bci != row.bcis[i]) return false;
    const auto id = reinterpret_cast<uintptr_t>(row.methods[i]);
    if (vm.method.ids_point_to_methods && signal_safe::SafeReadOr0(id) != scope.method) {
      return false;
    }
    at = scope.sender;
  }
  return at == 0;
}

}  // namespace

bool DebugInfoCheck::Agrees(const jvmtiCompiledMethodLoadInlineRecord& record,
                            const samples::CodeBlob& nmethod, uint32_t bias) const {
  const samples::DebugInfo info(*layout_, nmethod, bias);
  const std::span rows(record.pcinfo, static_cast<size_t>(record.numpcs));
  return std::ranges::all_of(rows.first(std::min(rows.size(), kMaxRows)),
                             [&](const PCStackInfo& row) { return IsRow(*layout_, info, row); });
}

bool DebugInfoCheck::Check(const jvmtiCompiledMethodLoadInlineRecord& record,
                           const samples::CodeBlob& nmethod) {
  if (record.numpcs <= 0 || record.pcinfo == nullptr) return false;
  const absl::MutexLock lock(&mutex_);
  if (agreed_ >= kEnough || disagreed_ >= kEnough) return false;
  const uint32_t bias = layout_->unsigned5_bias.load(std::memory_order_relaxed);
  if (Agrees(record, nmethod, bias)) {
    // Records of small methods read the same with any encoding, and are not counted.
    const bool differs = std::ranges::none_of(
        kBiases, [&](uint32_t other) { return other != bias && Agrees(record, nmethod, other); });
    agreed_ += differs;
    return false;
  }
  for (const uint32_t other : kBiases) {
    if (other == bias || !Agrees(record, nmethod, other)) continue;
    layout_->unsigned5_bias.store(other, std::memory_order_relaxed);
    return true;
  }
  if (++disagreed_ < kEnough || agreed_ > 0) return false;
  layout_->debug_info_readable.store(false, std::memory_order_relaxed);
  return true;
}

bool DebugInfoCheck::is_decided() const {
  const absl::MutexLock lock(&mutex_);
  return agreed_ >= kEnough || disagreed_ >= kEnough;
}

}  // namespace jtrace::jvm
