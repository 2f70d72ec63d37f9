#include "agent/io/io_records.h"

#include <array>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/io/io_name.h"
#include "proto/trace_format.h"

namespace jtrace::io {
namespace {

struct KindCode {
  Code code;
  LimitedEvent event;
  uint32_t minor;
};
// By IoKind.
constexpr std::array<KindCode, kIoKinds> kCodes = {{
    {Code::kRead, LimitedEvent::kRead, format::kIoRead},
    {Code::kWrite, LimitedEvent::kWrite, format::kIoWrite},
    {Code::kConnect, LimitedEvent::kConnect, format::kIoConnect},
    {Code::kAccept, LimitedEvent::kAccept, format::kIoAccept},
}};

// Becomes connected to another, by the call.
bool HasPeer(const IoCall& call) {
  return call.kind == IoKind::kConnect || call.kind == IoKind::kAccept;
}

const KindCode& CodeOf(const IoCall& call) { return kCodes[static_cast<size_t>(call.kind)]; }

// The call that a thread is in. `thread`: its number in the trace; 0: without a record.
struct Pending {
  bool has_begun = false;
  uint32_t thread = 0;
};
thread_local Pending t_pending;

}  // namespace

void IoRecords::Start(const CodeSet& codes) {
  bool is_wanted = false;
  for (const KindCode& kind : kCodes) is_wanted |= codes.Has(kind.code);
  if (!is_wanted) return;
  const absl::Status status = calls_.Listen(IoUse::kRecords, *this);
  if (status.ok()) return;
  losses_.Add("events.io", Severity::kWarning, 1,
              absl::StrCat("kind of event that this JVM does not offer: reads and writes (",
                           status.message(), ")"));
}

void IoRecords::Began(JNIEnv* jni, const IoCall& call) {
  Pending& pending = t_pending;
  pending = {.has_begun = true};
  const uint64_t now = clock_.Since(call.begin_ns);
  jthread thread = nullptr;
  if (!limits_.Count(CodeOf(call).event, now) ||
      calls_.env()->GetCurrentThread(&thread) != JVMTI_ERROR_NONE) {
    return;
  }
  const jvmti::ThreadNumbers numbers = threads_.FindRunning(jni, thread).numbers;
  jni->DeleteLocalRef(thread);
  pending.thread = numbers.number != 0 ? numbers.number : threads_.NumberOfJava(numbers.java_tid);
  // A peer is known afterwards.
  const std::string name = HasPeer(call) ? "" : NameOfDescriptor(call.fd);
  encoder_.AddEvent({.time_ns = now,
                     .thread = pending.thread,
                     .major = format::kIo,
                     .minor = CodeOf(call).minor,
                     .text = name});
}

void IoRecords::Ended(JNIEnv*, const IoCall& call) {
  const Pending pending = std::exchange(t_pending, Pending());
  if (!pending.has_begun) return;  // before the recording
  limits_.Ended(CodeOf(call).event, call.end_ns - call.begin_ns);
  if (pending.thread == 0) return;
  const std::string name = HasPeer(call) ? NameOfDescriptor(call.fd) : "";
  encoder_.AddEvent({.time_ns = clock_.Since(call.end_ns),
                     .thread = pending.thread,
                     .major = format::kIo,
                     .minor = CodeOf(call).minor | format::kEnd,
                     .value = call.bytes,
                     .text = name});
}

}  // namespace jtrace::io
