#include "agent/jvm/compiled_code_registry.h"

#include <algorithm>
#include <span>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "proto/trace_format.h"

namespace jtrace::jvm {
namespace {

constexpr uint32_t kOptimised = 4;  // CompLevel_full_optimization: C2 or its replacement

uint64_t Address(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

// Whether the same methods are active at both PCs, the outer ones at the same bci. The innermost
// bci changes at nearly every PC and says nothing about inlining.
bool SameInlining(const PCStackInfo& a, const PCStackInfo& b) {
  if (a.numstackframes != b.numstackframes) return false;
  const auto n = static_cast<size_t>(a.numstackframes);
  if (!std::equal(a.methods, a.methods + n, b.methods)) return false;
  return n == 0 || std::equal(a.bcis + 1, a.bcis + n, b.bcis + 1);
}

}  // namespace

void CompiledCodeRegistry::Load(jmethodID method, jint size, const void* address,
                                const void* compile_info) {
  const bool wants_code = encoder_.Wants(format::kJit, format::kJitCode);
  if (!wants_code && !encoder_.Wants(format::kJit, format::kJitInlining)) return;
  const uint32_t number = classes_.DefineMethod(method);
  proto::CodeEvent details;
  details.set_address(Address(address));
  details.set_size(static_cast<uint64_t>(size));
  details.set_method(number);
  const NmethodReader::Facts facts = nmethods_.At(Address(address));
  details.set_level(facts.level);
  details.set_native_wrapper(facts.is_native_wrapper);
  details.set_osr_entry(facts.osr_entry);
  details.set_bytecodes(BytecodesOf(method));
  details.set_modifiers(ModifiersOf(method));
  encoder_.AddCodeEvent({.time_ns = clock_.Now(), .major = format::kJit, .minor = format::kJitCode},
                        std::move(details));
  AddInlining(compile_info, Address(address), number, facts.level >= kOptimised);
}

uint32_t CompiledCodeRegistry::BytecodesOf(jmethodID method) const {
  jlocation first, last;
  if (env_->GetMethodLocation(method, &first, &last) != JVMTI_ERROR_NONE || last < 0) return 0;
  return static_cast<uint32_t>(last) + 1;
}

uint32_t CompiledCodeRegistry::ModifiersOf(jmethodID method) const {
  jint modifiers;
  if (env_->GetMethodModifiers(method, &modifiers) != JVMTI_ERROR_NONE) return 0;
  return static_cast<uint32_t>(modifiers);
}

void CompiledCodeRegistry::AddInlining(const void* compile_info, uint64_t address, uint32_t method,
                                       bool with_sizes) {
  const auto* record = FindInlineRecord(compile_info);
  if (record == nullptr || !encoder_.Wants(format::kJit, format::kJitInlining)) return;
  proto::CodeEvent details;
  details.set_address(address);
  details.set_method(method);
  const PCStackInfo* last = nullptr;
  absl::flat_hash_set<uint32_t> sized;
  for (const PCStackInfo& row : std::span(record->pcinfo, static_cast<size_t>(record->numpcs))) {
    const bool inlined_nothing = row.numstackframes <= 1 && last == nullptr;
    if (inlined_nothing || (last != nullptr && SameInlining(*last, row))) continue;
    last = &row;
    details.add_pc(static_cast<uint32_t>(Address(row.pc) - address));
    details.add_depth(static_cast<uint32_t>(row.numstackframes));
    for (jint i = 0; i < row.numstackframes; ++i) {
      const uint32_t inlined = classes_.DefineMethod(row.methods[i]);
      details.add_inlined(inlined);
      details.add_bci(row.bcis[i]);
      if (with_sizes && sized.insert(inlined).second) {
        // C2 counts a @ForceInline method, such as a probe, as one byte.
        details.add_inlined_bytecodes(classes_.IsProbe(inlined) ? 1 : BytecodesOf(row.methods[i]));
      }
    }
  }
  if (details.pc_size() == 0) return;
  encoder_.AddCodeEvent(
      {.time_ns = clock_.Now(), .major = format::kJit, .minor = format::kJitInlining},
      std::move(details));
}

void CompiledCodeRegistry::Unload(jmethodID method, const void* address) {
  proto::CodeEvent details;
  details.set_address(Address(address));
  details.set_method(classes_.MethodOf(KeyOf(method)));
  encoder_.AddCodeEvent(
      {.time_ns = clock_.Now(), .major = format::kJit, .minor = format::kJitCode | format::kEnd},
      std::move(details));
}

void CompiledCodeRegistry::DynamicCode(const char* name, const void* address, jint size) {
  proto::CodeEvent details;
  details.set_address(Address(address));
  details.set_size(static_cast<uint64_t>(size));
  encoder_.AddCodeEvent({.time_ns = clock_.Now(),
                         .major = format::kJit,
                         .minor = format::kJitDynamicCode,
                         .text = name},
                        std::move(details));
}

}  // namespace jtrace::jvm
