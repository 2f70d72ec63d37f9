// Answers requests of the program's native code (api/c) about the session of this JVM.
#pragma once

#include "agent/abi/host.h"
#include "agent/session/api_requests.h"

namespace jtrace {

class SessionAbi : public abi::Host {
 public:
  explicit SessionAbi(JvmSession& session) : session_(session), questions_(session) {}

  metrics::ThreadCounters& counters() override;
  std::optional<metrics::ThreadCounters::Identity> RegisterThread() override;
  void RegisterThreads() override;
  absl::StatusOr<metrics::MethodTotals> Method(std::optional<uint64_t> java_tid, uint32_t metric,
                                               absl::string_view pattern) override;
  absl::StatusOr<uint64_t> OpenWindow(std::optional<uint64_t> java_tid) override;
  absl::StatusOr<metrics::MethodTotals> WindowMethod(uint64_t window, uint32_t metric,
                                                     absl::string_view pattern) override;
  bool CloseWindow(uint64_t window) override;
  metrics::Segments& segments() override;
  absl::StatusOr<std::string> Command(absl::string_view verb, absl::string_view argument) override;

 private:
  // Calls on this thread if Java may run on it now; else on a new thread, so that the program's
  // thread does not start and end as a Java thread as a side effect.
  void CallWhereJavaRuns(const std::function<void()>& call);

  JvmSession& session_;
  ApiRequests questions_;
};

}  // namespace jtrace
