// Compiled code: method jitted and unloaded (S3.4) with level and inlining table, and the JVM's
// stubs.
//
// Threads: the JVM's service thread, or any thread that generates code. Code addresses are written
// with times, so that post-processing can name an address that was reused (S3.10).
#pragma once

#include <jvmti.h>

#include <cstdint>

#include "agent/base/clock.h"
#include "agent/hotspot/compiled_code.h"
#include "agent/jvmti/class_registry.h"
#include "agent/trace/record_encoder.h"

namespace jtrace::jvmti {

class CodeRegistry {
 public:
  // `libjvm_address`: any address in libjvm.
  CodeRegistry(jvmtiEnv* env, const SessionClock& clock, ClassRegistry& classes,
               trace::RecordEncoder& encoder, const void* libjvm_address)
      : env_(env), clock_(clock), classes_(classes), encoder_(encoder), compiled_(libjvm_address) {}

  // JVMTI CompiledMethodLoad; `compile_info` is HotSpot's chain of records (jvmticmlr.h) or null.
  void Load(jmethodID method, jint size, const void* address, const void* compile_info);
  void Unload(jmethodID method, const void* address);
  void DynamicCode(const char* name, const void* address, jint size);

 private:
  // `with_sizes`: of the bytecode of what was inlined, too.
  void AddInlining(const void* compile_info, uint64_t address, uint32_t method, bool with_sizes);
  // Bytes, 0 if there are none; and access flags.
  uint32_t BytecodesOf(jmethodID method) const;
  uint32_t ModifiersOf(jmethodID method) const;

  jvmtiEnv* const env_;
  const SessionClock& clock_;
  ClassRegistry& classes_;
  trace::RecordEncoder& encoder_;
  CompiledCode compiled_;
};

}  // namespace jtrace::jvmti
