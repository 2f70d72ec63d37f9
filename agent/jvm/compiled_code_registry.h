// Records of compiled code: methods compiled, with their level and what is inlined, and methods
// unloaded (S3.4); and the JVM's stubs.
//
// Threads: the JVM's service thread, or any thread that generates code. Records have times, so that
// post-processing can name the code at an address that was used more than once.
#pragma once

#include <jvmti.h>
#include <jvmticmlr.h>

#include <cstdint>

#include "agent/base/clock.h"
#include "agent/jvm/class_registry.h"
#include "agent/jvm/hotspot/nmethod_reader.h"
#include "agent/trace/record_encoder.h"

namespace jtrace::jvm {

// Writes the records to the encoder; keeps nothing of the code itself.
class CompiledCodeRegistry {
 public:
  // `libjvm_address`: any address in libjvm.
  CompiledCodeRegistry(jvmtiEnv* env, const RecordingClock& clock, ClassRegistry& classes,
                       trace::RecordEncoder& encoder, const void* libjvm_address)
      : env_(env), clock_(clock), classes_(classes), encoder_(encoder), nmethods_(libjvm_address) {}

  // JVMTI CompiledMethodLoad; `compile_info` is HotSpot's chain of records (jvmticmlr.h) or null.
  void Load(jmethodID method, jint size, const void* address, const void* compile_info);
  // JVMTI CompiledMethodUnload.
  void Unload(jmethodID method, const void* address);
  // JVMTI DynamicCodeGenerated: a stub of the JVM.
  void DynamicCode(const char* name, const void* address, jint size);

 private:
  // Records what was inlined into `method`. `with_sizes`: with the sizes of its bytecode, too.
  void AddInlining(const void* compile_info, uint64_t address, uint32_t method, bool with_sizes);
  // The bytes of the method's bytecode, 0 if it has none; and its access flags.
  uint32_t BytecodesOf(jmethodID method) const;
  uint32_t ModifiersOf(jmethodID method) const;

  jvmtiEnv* const env_;
  const RecordingClock& clock_;
  ClassRegistry& classes_;
  trace::RecordEncoder& encoder_;
  NmethodReader nmethods_;
};

// Returns HotSpot's record of what was inlined, from the chain that CompiledMethodLoad passes as
// `compile_info`; null if there is none.
inline const jvmtiCompiledMethodLoadInlineRecord* FindInlineRecord(const void* compile_info) {
  const auto* header = static_cast<const jvmtiCompiledMethodLoadRecordHeader*>(compile_info);
  for (; header != nullptr; header = header->next) {
    if (header->kind == JVMTI_CMLR_INLINE_INFO) {
      return reinterpret_cast<const jvmtiCompiledMethodLoadInlineRecord*>(header);
    }
  }
  return nullptr;
}

}  // namespace jtrace::jvm
