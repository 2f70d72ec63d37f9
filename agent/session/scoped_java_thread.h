// JNI on a thread that may not be a Java thread.
#pragma once

#include <jni.h>
#include <pthread.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace jtrace {

// Keeps the calling thread attached to the JVM while this object lives, under the thread's kernel
// name. Does nothing if it is attached already.
class ScopedJavaThread {
 public:
  explicit ScopedJavaThread(JavaVM* vm) : vm_(vm) {
    if (vm->GetEnv(reinterpret_cast<void**>(&jni_), JNI_VERSION_10) == JNI_OK) return;
    char name[16] = "jtrace";
    pthread_getname_np(pthread_self(), name, sizeof name);
    JavaVMAttachArgs arguments = {JNI_VERSION_10, name, nullptr};
    attached_ =
        vm->AttachCurrentThreadAsDaemon(reinterpret_cast<void**>(&jni_), &arguments) == JNI_OK;
    if (!attached_) jni_ = nullptr;
  }
  ~ScopedJavaThread() {
    if (attached_) vm_->DetachCurrentThread();
  }
  ScopedJavaThread(const ScopedJavaThread&) = delete;
  ScopedJavaThread& operator=(const ScopedJavaThread&) = delete;

  absl::StatusOr<JNIEnv*> jni() const {
    if (jni_ == nullptr) return absl::UnavailableError("the JVM is ending");
    return jni_;
  }

 private:
  JavaVM* vm_;
  JNIEnv* jni_ = nullptr;
  bool attached_ = false;
};

}  // namespace jtrace
