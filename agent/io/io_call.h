// One call of a native method of the JDK that reads, writes, connects or accepts, and who hears of
// it.
#pragma once

#include <jni.h>

#include <cstdint>

namespace jtrace::io {

enum class IoKind : uint8_t { kRead, kWrite, kConnect, kAccept };
inline constexpr int kIoKinds = 4;

struct IoCall {
  IoKind kind = IoKind::kRead;
  int fd = -1;            // of a file, a pipe, a socket; -1: closed, or not known yet (accept)
  uint64_t begin_ns = 0;  // CLOCK_MONOTONIC
  uint64_t end_ns = 0;
  // Read or written; 0 at the end of a file, for connect and accept; -1: nothing was done, because
  // the call failed or would have had to wait.
  int64_t bytes = 0;
};

// On the Java thread that calls, in native code, with no exception pending in Began. Calls of one
// thread are never nested.
class IoListener {
 public:
  virtual void Began(JNIEnv* jni, const IoCall& call) = 0;
  // `end_ns`, `bytes` and, of an accepted connection, `fd` are known now. The program's exception
  // may be pending: no JNI functions but those that are allowed then.
  virtual void Ended(JNIEnv* jni, const IoCall& call) = 0;

 protected:
  ~IoListener() = default;
};

}  // namespace jtrace::io
