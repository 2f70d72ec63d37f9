// The exports of libjtrace.so, called by the JVM at load and at each attach.
#include <jni.h>
#include <unistd.h>

#include <atomic>
#include <exception>

#include "agent/base/version.h"
#include "agent/options/options.h"
#include "agent/recording/message_log.h"
#include "agent/session/jvm_session.h"
#include "agent/session/program_requests.h"
#include "agent/signal_safe/agent_work_scope.h"

namespace {

using jtrace::Action;
using jtrace::JvmSession;
using jtrace::Options;

// The result of Agent_OnAttach, which jcmd shows as "return code".
constexpr jint kDone = 0;
constexpr jint kWrongUsage = 1;
constexpr jint kFailed = 2;

// The JVM's session, by which the exports find it. Set once; null before.
std::atomic<JvmSession*> the_session{nullptr};

// A failing Agent_OnLoad makes the JVM print on stdout, so the process ends here instead.
[[noreturn]] void EndProcess(absl::string_view message, int status) {
  jtrace::LogToStderr(message);
  _exit(status);
}

absl::StatusOr<Options> Parse(const char* text) {
  return jtrace::ParseOptions(text != nullptr ? absl::string_view(text) : absl::string_view());
}

// Native code may query the session from here on (api/c/jtrace.h).
void Remember(JvmSession& session) {
  the_session.store(&session);
  jtrace::abi::Publish(*new jtrace::NativeRequests(session));  // never freed
}

void Load(JavaVM* vm, const char* text) {
  absl::StatusOr<Options> options = Parse(text);
  if (!options.ok()) EndProcess(options.status().message(), 1);
  if (options->help) EndProcess(jtrace::OptionsHelp(), 0);
  if (options->version) EndProcess(JTRACE_VERSION, 0);
  if (options->includes_own && options->include.empty()) {
    EndProcess(
        "include=own is for jtrace start: no class of the program is loaded yet; name its "
        "packages, as in include=com.acme.**",
        1);
  }
  if (the_session.load() != nullptr) {
    EndProcess("-agentpath names jtrace twice; give all options to one", 1);
  }
  auto session = JvmSession::OpenAtLoad(vm, *options);
  if (!session.ok()) EndProcess(session.status().message(), 1);
  Remember(**session);
}

jint Refuse(const absl::Status& status, jint code) {
  jtrace::LogToStderr(status.message());
  return code;
}

absl::Status Run(JvmSession& session, JNIEnv* jni, const Options& options) {
  switch (options.action) {
    case Action::kStart:
      return session.Start(jni, options, jtrace::CommandContext()).status();
    case Action::kStop:
      return session.Stop(jni, jtrace::CommandContext()).status();
    case Action::kServe:
      return absl::OkStatus();
  }
  return absl::OkStatus();
}

// The caller of an attach gets a number; the reason is written to the program's stderr.
jint Attach(JavaVM* vm, const char* text) {
  const absl::StatusOr<Options> options = Parse(text);
  if (!options.ok()) return Refuse(options.status(), kWrongUsage);
  if (options->help || options->version) {
    return Refuse(absl::InvalidArgumentError(
                      "help and version are for java -agentpath:…=help; nothing is recorded"),
                  kWrongUsage);
  }
  if (options->probes_rest) {
    return Refuse(absl::InvalidArgumentError(
                      "probes=resting is for a JVM that starts with -agentpath; classes that are "
                      "loaded already get their probes at jtrace start"),
                  kWrongUsage);
  }
  if (jtrace::signal_safe::agent_is_disabled.load()) {
    return Refuse(
        absl::ResourceExhaustedError(
            "this JVM's agent got no memory, and does nothing any more; restart the program"),
        kFailed);
  }
  JNIEnv* jni = nullptr;
  if (vm->GetEnv(reinterpret_cast<void**>(&jni), JNI_VERSION_10) != JNI_OK) return kFailed;
  if (the_session.load() == nullptr) {
    auto session = JvmSession::OpenLive(vm, jni);
    if (!session.ok()) return Refuse(session.status(), kFailed);
    Remember(**session);
  }
  const absl::Status status = Run(*the_session.load(), jni, *options);
  return status.ok() ? kDone : Refuse(status, kFailed);
}

}  // namespace

extern "C" JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char* options, void*) {
  const jtrace::signal_safe::AgentWorkScope own;
  try {
    Load(vm, options);
  } catch (const std::exception& failure) {
    EndProcess(failure.what(), 1);
  }
  return JNI_OK;
}

extern "C" JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM* vm, char* options, void*) {
  const jtrace::signal_safe::AgentWorkScope own;
  try {
    return Attach(vm, options);
  } catch (const std::exception& failure) {
    return Refuse(absl::InternalError(failure.what()), kFailed);
  }
}
