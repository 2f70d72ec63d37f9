// Puts probes into classes as they are loaded: joins the pure rewriter (classfile/) with the
// numbers of the trace and the counts of what was left out.
//
// Any Java thread, inside ClassFileLoadHook. Keeps no lock while rewriting.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "agent/classfile/instrumenter.h"
#include "agent/classfile/scope_filter.h"
#include "agent/losses.h"
#include "agent/options.h"
#include "agent/writer/record_encoder.h"

namespace jtrace {

class Instrumentation {
 public:
  // Errors: a pattern of include= or exclude= that cannot be read.
  static absl::StatusOr<std::unique_ptr<Instrumentation>> Create(const Options& options,
                                                                 writer::RecordEncoder& encoder,
                                                                 Losses& losses);

  // The new class file in memory from env->Allocate, or nothing if the class stays as it is.
  // `name`: internal form, null if the JVM was not told. `loader_number` is called only for a
  // class in scope.
  std::span<unsigned char> Rewrite(jvmtiEnv* env, const char* name,
                                   std::span<const unsigned char> bytes,
                                   absl::FunctionRef<uint32_t()> loader_number);

  // Whether a class ("java.lang.String") is in scope: those that were loaded before the probes
  // were ready are then retransformed.
  bool InScope(const std::string& binary_name) const;

  uint64_t methods_probed() const { return methods_.load(std::memory_order_relaxed); }
  uint64_t classes_rewritten() const { return classes_.load(std::memory_order_relaxed); }

 private:
  Instrumentation(classfile::ScopeFilter filter, classfile::ProbeSpec spec,
                  writer::RecordEncoder& encoder, Losses& losses);
  void Count(const classfile::InstrumentResult& result);

  const classfile::ScopeFilter filter_;
  const classfile::ProbeSpec spec_;
  writer::RecordEncoder& encoder_;
  Losses& losses_;
  std::atomic<uint64_t> methods_{0};
  std::atomic<uint64_t> classes_{0};
};

}  // namespace jtrace
