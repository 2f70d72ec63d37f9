// Records reads, writes, connects and accepts (0x63, codes=+io): one record of the begin, one of
// the end with the bytes. One of them has the name of the file or peer.
#pragma once

#include <string>

#include "agent/events/event_recorder.h"
#include "agent/events/io_calls.h"

namespace jtrace::events {

// Returns what a descriptor is connected to, for people: "/tmp/a.txt", "127.0.0.1:80", "[::1]:80",
// "unix:/run/x", "pipe:[123]". Empty: not open. Any thread; some system calls.
std::string NameOfDescriptor(int fd);

// Listens to calls, on the Java thread that makes them.
class IoEvents : public EventRecorder, public IoListener {
 public:
  explicit IoEvents(const EventContext& context) : context_(context) {}

  absl::Span<const Code> codes() const override;
  void Start(const EventCodeSet& codes) override;
  void Stop() override { context_.io.Ignore(IoListenerUse::kRecords); }

  void Began(JNIEnv* jni, const IoCall& call) override;
  void Ended(JNIEnv* jni, const IoCall& call) override;

 private:
  const EventContext& context_;
};

}  // namespace jtrace::events
