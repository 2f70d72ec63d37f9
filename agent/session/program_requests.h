// Answers requests of the program about the session of this JVM: of Java (jtrace-api.jar) and of
// native code (api/c).
#pragma once

#include <functional>

#include "agent/api/abi/native_api.h"
#include "agent/api/jni/java_api.h"

namespace jtrace {

class JvmSession;

// Answers requests of Java code.
class JavaRequests : public api::JavaApi {
 public:
  explicit JavaRequests(JvmSession& session) : session_(session) {}

  std::vector<std::string> Describe() override;
  absl::StatusOr<int64_t> TotalOf(JNIEnv* jni, jthread thread, uint32_t metric) override;
  absl::StatusOr<int64_t> ProcessTotal(uint32_t metric) override;
  absl::StatusOr<uint32_t> Counter(absl::string_view name, absl::string_view unit) override;
  absl::StatusOr<metrics::MethodTotals> Method(std::optional<uint64_t> java_tid, uint32_t metric,
                                               absl::string_view pattern) override;
  absl::StatusOr<uint64_t> OpenWindow(metrics::WindowScope scope, uint64_t java_tid) override;
  absl::StatusOr<metrics::MethodTotals> WindowMethod(uint64_t window, uint32_t metric,
                                                     absl::string_view pattern) override;
  absl::StatusOr<std::string> WindowPaths(uint64_t window, uint32_t metric, absl::string_view below,
                                          absl::string_view pattern, int top) override;
  void CloseWindow(uint64_t window) override;
  absl::StatusOr<std::optional<std::string>> NearestMethod(absl::string_view pattern) override;
  absl::StatusOr<int64_t> WindowTotal(uint64_t window, uint32_t metric) override;
  uint32_t Labels(uint32_t outer, absl::string_view key, absl::string_view value) override;
  void SetLabels(uint32_t number, uint64_t virtual_tid) override;
  events::Segments& segments() override;
  absl::StatusOr<std::string> Command(absl::string_view verb, absl::string_view argument) override;

 private:
  using Tree = absl::StatusOr<metrics::TreeSnapshot>;
  using AskTree = std::function<Tree(metrics::TreeWindows&)>;
  // Queries the recording's trees on the writer thread. FailedPrecondition: there are none.
  Tree Ask(const AskTree& ask) const;
  absl::StatusOr<metrics::MethodTotals> TotalsIn(uint32_t metric, absl::string_view pattern,
                                                 const AskTree& ask) const;
  // Returns the metric's column in trees that charge `charged`. OutOfRange: call paths do not have
  // it.
  absl::StatusOr<size_t> ColumnOf(uint32_t metric, const std::vector<uint8_t>& charged) const;
  // Returns the loaded classes that implement an interface or extend an abstract class
  // (jvm/loaded_classes.h). Empty also on a thread that is not a Java thread.
  absl::flat_hash_set<std::string> FindImplementors(const std::string& class_name) const;
  absl::StatusOr<metrics::Routines> RoutinesOf(absl::string_view pattern) const;
  std::string Text(const std::vector<metrics::PathShare>& shares) const;

  JvmSession& session_;
};

// Answers requests of native code.
class NativeRequests : public abi::NativeApi {
 public:
  explicit NativeRequests(JvmSession& session) : session_(session), requests_(session) {}

  metrics::ThreadCounters& counters() override;
  std::optional<metrics::ThreadCounters::Identity> RegisterThread() override;
  void RegisterThreads() override;
  absl::StatusOr<metrics::MethodTotals> Method(std::optional<uint64_t> java_tid, uint32_t metric,
                                               absl::string_view pattern) override;
  absl::StatusOr<uint64_t> OpenWindow(std::optional<uint64_t> java_tid) override;
  absl::StatusOr<metrics::MethodTotals> WindowMethod(uint64_t window, uint32_t metric,
                                                     absl::string_view pattern) override;
  bool CloseWindow(uint64_t window) override;
  events::Segments& segments() override;
  absl::StatusOr<std::string> Command(absl::string_view verb, absl::string_view argument) override;

 private:
  // Calls on this thread if Java may run on it now; else on a new thread, so that the program's
  // thread does not start and end as a Java thread as a side effect.
  void CallWhereJavaRuns(const std::function<void()>& call);

  JvmSession& session_;
  JavaRequests requests_;
};

}  // namespace jtrace
