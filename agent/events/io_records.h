// Reads, writes, connects and accepts (0x63): a record of the begin and the end of each, with file
// or peer, bytes, and by their times the duration.
#pragma once

#include <string>

#include "agent/events/event_source.h"
#include "agent/events/io_calls.h"

namespace jtrace::events {

// What a descriptor is connected to, for people: "/tmp/a.txt", "127.0.0.1:80", "[::1]:80",
// "unix:/run/x", "pipe:[123]". Empty: not open. Any thread; some system calls.
std::string NameOfDescriptor(int fd);

// Hears of calls on the Java thread that makes them.
class IoRecords : public EventSource, public IoListener {
 public:
  explicit IoRecords(const EventContext& context) : context_(context) {}

  absl::Span<const Code> codes() const override;
  void Start(const CodeSet& codes) override;
  void Stop() override { context_.io.Ignore(IoUse::kRecords); }

  void Began(JNIEnv* jni, const IoCall& call) override;
  void Ended(JNIEnv* jni, const IoCall& call) override;

 private:
  const EventContext& context_;
};

}  // namespace jtrace::events
