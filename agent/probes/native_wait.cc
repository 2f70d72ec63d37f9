#include "agent/probes/native_wait.h"

#include <time.h>

#include <string>

#include "agent/hot/sample_handler.h"
#include "agent/probes/native_half.h"
#include "agent/probes/probe_class.h"

namespace jtrace {
namespace {

bool wait_defined = false;  // under the lock of the code that starts recordings

void JNICALL Nap(JNIEnv*, jclass, jint micros) {
  if (micros == 0) return;
  hot::writer_doorbell.Ring();
  const timespec length = {0, micros * 1000L};
  // A signal may end it early: the caller looks whether there is room in any case.
  nanosleep(&length, nullptr);
}

}  // namespace

absl::Status DefineLogWait(JNIEnv* jni) {
  if (wait_defined) return absl::OkStatus();
  const NativeHalf half = {
      "jtrace/NativeWait",
      EmbeddedNativeWait(),
      {const_cast<char*>("nap"), const_cast<char*>("(I)V"), reinterpret_cast<void*>(&Nap)}};
  if (!DefineWithNativeHalf(jni, half, std::string(kWaitClass).c_str(), EmbeddedWaitClass())) {
    return absl::FailedPreconditionError(
        "this JVM rejects the code of overflow=wait: use overflow=gap");
  }
  wait_defined = true;
  return absl::OkStatus();
}

}  // namespace jtrace
