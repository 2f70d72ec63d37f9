// Replaces the JDK's natives that read, write, connect and accept, from the first request on.
// Natives of loaded classes are registered anew by JNI; others are replaced when the JVM binds
// them, by JVMTI's NativeMethodBind. The replacements stay: without a listener they only call the
// JDK's function. Threads: Listen one at a time; Bound on any Java thread.
#pragma once

#include <jni.h>
#include <jvmti.h>

#include <cstdint>

#include "absl/status/status.h"
#include "agent/events/io_natives.h"
#include "agent/jvm/jvmti_environment.h"

namespace jtrace::events {

// Who listens: there may be one listener of each use.
enum class IoListenerUse : uint8_t { kRecords, kCounts };

class IoCalls {
 public:
  explicit IoCalls(JavaVM* vm);
  IoCalls(const IoCalls&) = delete;
  IoCalls& operator=(const IoCalls&) = delete;

  // Sets the listener of a use, which lives as long as the process. In the live phase. An error if
  // the JVM does not allow it.
  absl::Status Listen(IoListenerUse use, IoListener& listener);
  // Removes the listener of a use; calls that have begun may still reach it.
  void Ignore(IoListenerUse use);

  // For listeners; null before Listen.
  jvmtiEnv* env() const { return environment_.get(); }

  // Callbacks.
  void ReplaceBound(JNIEnv* jni);
  void Bound(JNIEnv* jni, jthread thread, jmethodID method, void* address, void** replacement);

 private:
  absl::Status Replace();

  JavaVM* vm_;
  jvm::Environment environment_;
  bool is_replaced_ = false;
};

}  // namespace jtrace::events
