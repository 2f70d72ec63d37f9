#include "agent/recording/switches_part.h"

#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "agent/jvm/env.h"

namespace jtrace {

absl::Status SwitchesPart::Prepare() {
  if (const auto trial = samples::SwitchRing::Open(gettid()); !trial.ok()) {
    return absl::FailedPreconditionError(absl::StrCat("codes=+switch: ", trial.status().message()));
  }
  return absl::OkStatus();
}

// The threads that run by now; the others report their start.
void SwitchesPart::Listen(JNIEnv* jni) {
  jvm::ForEachThread(jvm_.env, jni, [&](jthread thread) {
    const jvm::ThreadNumbers found = jvm_.registries.threads.FindRunning(jni, thread).numbers;
    if (found.number != 0 && found.os_tid != 0) source_.Attach(found.number, found.os_tid);
  });
}

void SwitchesPart::ThreadStarted(JNIEnv*, const jvm::ThreadNumbers& numbers) {
  source_.Attach(numbers.number, gettid());
}

}  // namespace jtrace
