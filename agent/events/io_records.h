// Records of the begin and the end of each read, write, connect and accept (0x63), if codes=
// requests them: file or peer, bytes, and by their times the duration.
//
// Threads: Start and Stop on the thread of a start or stop; the rest on the Java thread concerned.
#pragma once

#include <string>

#include "agent/base/clock.h"
#include "agent/base/codes.h"
#include "agent/base/losses.h"
#include "agent/events/io_calls.h"
#include "agent/jvmti/thread_registry.h"
#include "agent/trace/limited_events.h"
#include "agent/trace/record_encoder.h"

namespace jtrace::events {

// What a descriptor is connected to, for people: "/tmp/a.txt", "127.0.0.1:80", "[::1]:80",
// "unix:/run/x", "pipe:[123]". Empty: not open. Any thread; some system calls.
std::string NameOfDescriptor(int fd);

class IoRecords : public IoListener {
 public:
  IoRecords(IoCalls& calls, const SessionClock& clock, jvmti::ThreadRegistry& threads,
            trace::RecordEncoder& encoder, LimitedEvents& limits, Losses& losses)
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
  jvmti::ThreadRegistry& threads_;
  trace::RecordEncoder& encoder_;
  LimitedEvents& limits_;
  Losses& losses_;
};

}  // namespace jtrace::events
