#include "agent/recording/events_part.h"

#include <array>
#include <string>

#include "absl/strings/str_cat.h"
#include "agent/jvm/jvmti_calls.h"
#include "agent/recording/jvmti_events.h"

namespace jtrace {
namespace {

constexpr std::array kThreadStartEvents = {JVMTI_EVENT_THREAD_START};
constexpr std::array kRecordedEvents = {JVMTI_EVENT_CLASS_PREPARE,
                                        JVMTI_EVENT_GARBAGE_COLLECTION_START,
                                        JVMTI_EVENT_GARBAGE_COLLECTION_FINISH};
constexpr std::array kVirtualThreadEvents = {jvm::kVirtualThreadStart, jvm::kVirtualThreadEnd};
constexpr std::array kVirtualThreadStarts = {jvm::kVirtualThreadStart};

}  // namespace

absl::Status EventsPart::Prepare() {
  events_.recorders.Prepare(options_.codes);
  return absl::OkStatus();
}

void EventsPart::ReportStart() {
  Losses& losses = jvm_.trace.losses;
  if (jvm_.program_runs.load()) {
    for (const std::string& what : jvm_.granted.refused) {
      losses.Add("attach.refused", Severity::kWarning, 1,
                 absl::StrCat("unavailable when attaching: ", what),
                 "start the program with -agentpath");
    }
  }
  if (events_.gc_cause.Find(jvm_.libjvm_address())) return;
  losses.Add("gc.no_cause", Severity::kInfo, 1,
             "the JVM does not say why it collects garbage: it keeps no performance counters",
             "leave -XX:-UsePerfData out");
}

void EventsPart::Listen(JNIEnv*) {
  jvm::EnableEvents(jvm_.env, kThreadStartEvents).IgnoreError();
  jvm::EnableEvents(jvm_.env, kRecordedEvents).IgnoreError();
  events_.sees_virtual_ends.store(jvm_.granted.virtual_threads && options_.WantsCalls());
  events_.recorders.Start(options_.codes);
  if (!events_.sees_virtual_ends.load()) return;
  jvm::EnableEvents(jvm_.env, kVirtualThreadEvents).IgnoreError();
}

// In a running JVM, classes are recorded before they change, because threads may be inside their
// methods. At load, they are recorded once they have their probes.
void EventsPart::AddExisting(JNIEnv* jni) {
  if (!jvm_.program_runs.load() && options_.WantsCalls()) return;
  jvm_.registries.classes.RecordLoaded(jni);
}

std::vector<trace::ChunkSource*> EventsPart::sources() {
  std::vector<trace::ChunkSource*> sources = events_.recorders.ChunkSources(options_.codes);
  sources.push_back(&jvm_.trace.limited_events);
  return sources;
}

// Events of virtual threads' ends stay on, so that the memory of those that end between recordings
// is used again.
void EventsPart::StopListening() {
  events_.recorders.Stop();
  jvm::DisableEvents(jvm_.env, kRecordedEvents).IgnoreError();
  if (!events_.counts_threads.load()) {
    jvm::DisableEvents(jvm_.env, kThreadStartEvents).IgnoreError();
    // The first request of threads' metrics may have come meanwhile.
    if (events_.counts_threads.load()) EnableThreadStarts(jvm_.env, events_);
  }
  if (jvm_.granted.virtual_threads) {
    jvm::DisableEvents(jvm_.env, kVirtualThreadStarts).IgnoreError();
  }
}

}  // namespace jtrace
