// Answers what native code of the program asks (api/c), about the session of this JVM.
#pragma once

#include "agent/abi/host.h"
#include "agent/session/session_questions.h"

namespace jtrace {

class SessionAbi : public abi::Host {
 public:
  explicit SessionAbi(JvmSession& session) : session_(session), questions_(session) {}

  metrics::ThreadCounters& counters() override;
  std::optional<metrics::ThreadCounters::Identity> Meet() override;
  void MeetThreads() override;
  absl::StatusOr<metrics::MethodTotals> Method(std::optional<uint64_t> java_tid, uint32_t metric,
                                               absl::string_view pattern) override;
  absl::StatusOr<uint64_t> OpenWindow(std::optional<uint64_t> java_tid) override;
  absl::StatusOr<metrics::MethodTotals> WindowMethod(uint64_t window, uint32_t metric,
                                                     absl::string_view pattern) override;
  bool CloseWindow(uint64_t window) override;
  absl::StatusOr<std::string> Command(absl::string_view verb, absl::string_view argument) override;

 private:
  // On this thread if Java may run on it as it stands; else on a thread of its own, so that the
  // program's thread does not begin and end for Java by the way.
  void CallWhereJavaRuns(const std::function<void()>& call);

  JvmSession& session_;
  SessionQuestions questions_;
};

}  // namespace jtrace
