#include "agent/session/session_abi.h"

#include <exception>
#include <thread>

#include "agent/base/signals_blocked.h"
#include "agent/hot/own_work.h"
#include "agent/session/counted_threads.h"
#include "agent/session/java_scope.h"
#include "agent/session/jvm_session.h"

namespace jtrace {

metrics::ThreadCounters& SessionAbi::counters() { return session_.jvm().metrics->counters(); }

std::optional<metrics::ThreadCounters::Identity> SessionAbi::RegisterThread() {
  return CountCaller(session_.jvm());
}

void SessionAbi::CallWhereJavaRuns(const std::function<void()>& call) {
  JNIEnv* jni = nullptr;
  if (session_.jvm().vm->GetEnv(reinterpret_cast<void**>(&jni), JNI_VERSION_10) == JNI_OK &&
      jni->ExceptionCheck() == JNI_FALSE) {
    return call();
  }
  std::exception_ptr failure;
  std::thread thread = [&] {
    const SignalsBlocked blocked;
    return std::thread([&] {
      hot::tls_is_agent_thread = true;
      try {
        call();
      } catch (...) {
        failure = std::current_exception();
      }
    });
  }();
  thread.join();
  if (failure) std::rethrow_exception(failure);
}

void SessionAbi::RegisterThreads() {
  CallWhereJavaRuns([this] {
    const control::JavaScope scope(session_.jvm().vm);
    if (const auto jni = scope.jni(); jni.ok()) CountRunningThreads(session_.jvm(), *jni);
  });
}

absl::StatusOr<metrics::MethodTotals> SessionAbi::Method(std::optional<uint64_t> java_tid,
                                                         uint32_t metric,
                                                         absl::string_view pattern) {
  return questions_.Method(java_tid, metric, pattern);
}

absl::StatusOr<uint64_t> SessionAbi::OpenWindow(std::optional<uint64_t> java_tid) {
  return questions_.OpenWindow(java_tid ? metrics::Scope::kThread : metrics::Scope::kProcess,
                               java_tid.value_or(0));
}

absl::StatusOr<metrics::MethodTotals> SessionAbi::WindowMethod(uint64_t window, uint32_t metric,
                                                               absl::string_view pattern) {
  return questions_.WindowMethod(window, metric, pattern);
}

bool SessionAbi::CloseWindow(uint64_t window) {
  bool was_open = false;
  const absl::Status asked =
      session_.QueryTrees([&](metrics::TreeWindows& windows) { was_open = windows.Close(window); });
  return asked.ok() && was_open;
}

metrics::Segments& SessionAbi::segments() { return session_.jvm().segments; }

absl::StatusOr<std::string> SessionAbi::Command(absl::string_view verb,
                                                absl::string_view argument) {
  absl::StatusOr<std::string> answer = "";
  CallWhereJavaRuns([&] { answer = session_.RunCommand(verb, argument); });
  return answer;
}

}  // namespace jtrace
