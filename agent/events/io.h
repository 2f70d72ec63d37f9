// Puts replacements into the JDK's natives that read, write, connect and accept, from the first
// request on: where natives are bound later by the JVM's event, where they are bound by JNI.
//
// They stay there: without a listener they only call the JDK's function. Threads: Listen one at a
// time; Bound on any Java thread.
#pragma once

#include <jni.h>
#include <jvmti.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "agent/base/clock.h"
#include "agent/base/codes.h"
#include "agent/base/losses.h"
#include "agent/jvm/thread_registry.h"
#include "agent/trace/limited_events.h"
#include "agent/trace/record_encoder.h"

namespace jtrace::events {

// The native methods of the JDK that read, write, connect and accept, and functions that take their
// place: they call the JDK's function and report the call.
//
// JNI passes a native method nothing of ours, so which functions were replaced, and who listens, is
// known to the whole process. Threads: any.

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

struct IoNative {
  const char* class_name;  // "java/io/FileInputStream"
  const char* method;
  const char* descriptor;
  void* replacement;  // of the same type as the JDK's function
};

// Of all JDKs; a JDK has some of them.
std::span<const IoNative> IoNatives();

// The JDK's own function of a native, by its place in IoNatives; null: not known yet. To be set
// before its replacement can be called.
std::atomic<void*>& OriginalOf(size_t native);

// Whoever hears of calls from here on; null: no one. `slot`: 0 or 1. Calls that have begun may
// still reach the one before: listeners live as long as the process.
void SetListener(size_t slot, IoListener* listener);

// The library and the symbol of a native's function: "libnio.so", "Java_sun_nio_ch_Net_connect0".
std::string_view LibraryOf(const IoNative& native);
std::string SymbolOf(const IoNative& native);

// Two can listen at once.
enum class IoUse : uint8_t { kRecords, kCounts };

class IoCalls {
 public:
  explicit IoCalls(JavaVM* vm) : vm_(vm) {}
  IoCalls(const IoCalls&) = delete;
  IoCalls& operator=(const IoCalls&) = delete;

  // `listener` lives as long as the process. In the live phase. An error if the JVM does not allow
  // it.
  absl::Status Listen(IoUse use, IoListener& listener);
  void Ignore(IoUse use);

  // For listeners; null before Listen.
  jvmtiEnv* env() const { return env_; }

  // Callbacks.
  void ReplaceBound(JNIEnv* jni);
  void Bound(JNIEnv* jni, jthread thread, jmethodID method, void* address, void** replacement);

 private:
  absl::Status Replace();

  JavaVM* vm_;
  jvmtiEnv* env_ = nullptr;
  bool is_replaced_ = false;
};

// Records of the begin and the end of each read, write, connect and accept (0x63), if codes=
// requests them: file or peer, bytes, and by their times the duration.
//
// Threads: Start and Stop on the thread of a start or stop; the rest on the Java thread concerned.

// What a descriptor is connected to, for people: "/tmp/a.txt", "127.0.0.1:80", "[::1]:80",
// "unix:/run/x", "pipe:[123]". Empty: not open. Any thread; some system calls.
std::string NameOfDescriptor(int fd);

class IoRecords : public IoListener {
 public:
  IoRecords(IoCalls& calls, const SessionClock& clock, jvm::ThreadRegistry& threads,
            trace::RecordEncoder& encoder, trace::LimitedEvents& limits, Losses& losses)
      : calls_(calls),
        clock_(clock),
        threads_(threads),
        encoder_(encoder),
        limits_(limits),
        losses_(losses) {}

  void Start(const CodeSet& codes);
  void Stop() { calls_.Ignore(IoUse::kRecords); }

  void Began(JNIEnv* jni, const IoCall& call) override;
  void Ended(JNIEnv* jni, const IoCall& call) override;

 private:
  IoCalls& calls_;
  const SessionClock& clock_;
  jvm::ThreadRegistry& threads_;
  trace::RecordEncoder& encoder_;
  trace::LimitedEvents& limits_;
  Losses& losses_;
};

}  // namespace jtrace::events
