// The native methods of the JDK that read, write, connect and accept, and functions that take their
// place: they call the JDK's function and report the call.
//
// JNI passes a native method nothing of ours, so which functions were replaced, and who listens, is
// known to the whole process. Threads: any.
#pragma once

#include <jni.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace jtrace::events {

enum class IoKind : uint8_t { kRead, kWrite, kConnect, kAccept };
inline constexpr int kIoKinds = 4;

struct IoCall {
  IoKind kind = IoKind::kRead;
  int fd = -1;            // of a file, a pipe, a socket; -1: closed, or not known yet (accept)
  uint64_t begin_ns = 0;  // CLOCK_MONOTONIC
  uint64_t end_ns = 0;
  // How many were read or written; 0 at the end of a file, and for connect and accept; -1: the call
  // failed, or would have had to wait.
  int64_t bytes = 0;
};

// Called on the Java thread that does the I/O, in native code. In Began no exception is pending.
// Calls of one thread are never nested.
class IoListener {
 public:
  virtual void Began(JNIEnv* jni, const IoCall& call) = 0;
  // `end_ns`, `bytes` and, of an accepted connection, `fd` are known now. The program's exception
  // may be pending: no JNI functions but those that are allowed then.
  virtual void Ended(JNIEnv* jni, const IoCall& call) = 0;

 protected:
  ~IoListener() = default;
};

struct IoNative {
  const char* class_name;  // "java/io/FileInputStream"
  const char* method;
  const char* descriptor;
  void* replacement;  // of the same type as the JDK's function
};

// Returns the natives of all JDK versions; each has some of them.
std::span<const IoNative> IoNatives();

// The JDK's own function of a native, by its index in IoNatives; null: not known yet. To be set
// before its replacement can be called.
std::atomic<void*>& OriginalOf(size_t native);

// Sets who is called from here on; null: no one. `slot`: 0 or 1. Calls that have begun may still
// reach the listener before it: listeners live as long as the process.
void SetListener(size_t slot, IoListener* listener);

// Return a native's library and symbol: "libnio.so", "Java_sun_nio_ch_Net_connect0".
std::string_view LibraryOf(const IoNative& native);
std::string SymbolOf(const IoNative& native);

}  // namespace jtrace::events
