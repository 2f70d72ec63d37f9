// The exports of libjtrace.so, nothing else.
#include <jni.h>
#include <unistd.h>

#include <exception>

#include "agent/log.h"
#include "agent/options.h"
#include "agent/session.h"
#include "agent/version.h"

namespace {

// A failing Agent_OnLoad makes the JVM print on stdout, so the process ends here instead.
[[noreturn]] void EndProcess(absl::string_view message, int status) {
  jtrace::LogToStderr(message);
  _exit(status);
}

void Load(JavaVM* vm, const char* text) {
  absl::StatusOr<jtrace::Options> options =
      jtrace::ParseOptions(text != nullptr ? absl::string_view(text) : absl::string_view());
  if (!options.ok()) EndProcess(options.status().message(), 1);
  if (options->help) EndProcess(jtrace::OptionsHelp(), 0);
  if (options->version) EndProcess(JTRACE_VERSION, 0);
  if (absl::Status status = jtrace::Session::Open(vm, *options); !status.ok()) {
    EndProcess(status.message(), 1);
  }
}

}  // namespace

extern "C" JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char* options, void*) {
  try {
    Load(vm, options);
  } catch (const std::exception& failure) {
    EndProcess(failure.what(), 1);
  }
  return JNI_OK;
}

extern "C" JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM*, char*, void*) {
  jtrace::LogToStderr(
      "attaching to a running JVM is not available in this version; start it with -agentpath");
  return JNI_ERR;
}
