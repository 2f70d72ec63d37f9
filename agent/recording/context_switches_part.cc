#include "agent/recording/context_switches_part.h"

#include <unistd.h>

#include "absl/strings/str_cat.h"

namespace jtrace {

absl::Status ContextSwitchesPart::Prepare() {
  if (const auto trial = samples::ContextSwitchRing::Open(gettid()); !trial.ok()) {
    return absl::FailedPreconditionError(absl::StrCat("codes=+switch: ", trial.status().message()));
  }
  return absl::OkStatus();
}

// Attaches the running threads. ThreadStarted attaches those that start later.
void ContextSwitchesPart::Listen(JNIEnv*) {
  for (const jvm::RunningThread& thread : jvm_.registries.threads.Running()) {
    source_.Attach(thread.numbers.number, thread.numbers.os_tid);
  }
}

void ContextSwitchesPart::ThreadStarted(JNIEnv*, const jvm::TraceThreadIds& numbers) {
  source_.Attach(numbers.number, gettid());
}

}  // namespace jtrace
