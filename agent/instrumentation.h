// Puts probes into classes as they are loaded: joins the pure rewriter (classfile/) with the
// numbers of the trace and the counts of what was left out.
//
// Any Java thread, inside ClassFileLoadHook. Keeps no lock while rewriting.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstdint>
#include <span>

#include "absl/strings/string_view.h"
#include "agent/classfile/instrumenter.h"
#include "agent/classfile/scope_filter.h"
#include "agent/losses.h"
#include "agent/options.h"
#include "agent/writer/record_encoder.h"

namespace jtrace {

class Instrumentation {
 public:
  Instrumentation(const Options& options, writer::RecordEncoder& encoder, Losses& losses);

  // The new class file in memory from env->Allocate, or nothing if the class stays as it is.
  // `name`: internal form, may be null. `loader`: number, asked for only if the class is in scope.
  template <typename LoaderNumber>
  std::span<unsigned char> Rewrite(jvmtiEnv* env, const char* name,
                                   std::span<const unsigned char> bytes, LoaderNumber loader) {
    if (name != nullptr && !filter_.MayMatchClass(name)) return {};
    return RewriteInScope(env, bytes, loader());
  }

  // Whether a class that was loaded before the probes were ready is to be retransformed.
  bool InScope(absl::string_view internal_name) const;

  uint64_t methods_probed() const { return methods_.load(std::memory_order_relaxed); }
  uint64_t classes_rewritten() const { return classes_.load(std::memory_order_relaxed); }

 private:
  std::span<unsigned char> RewriteInScope(jvmtiEnv* env, std::span<const unsigned char> bytes,
                                          uint32_t loader);
  void Count(const classfile::InstrumentResult& result);

  writer::RecordEncoder& encoder_;
  Losses& losses_;
  const classfile::ScopeFilter filter_;
  const classfile::ProbeSpec spec_;
  std::atomic<uint64_t> methods_{0};
  std::atomic<uint64_t> classes_{0};
};

}  // namespace jtrace
