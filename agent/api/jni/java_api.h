// The native methods of jtrace.NativeMetrics, by which jtrace-api.jar calls the agent. Texts are in
// modified UTF-8, JNI's encoding; those that the agent returns may also be in UTF-8.
#pragma once

#include <jvmti.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "agent/events/segments.h"
#include "agent/metrics/tree_windows.h"

namespace jtrace::api {

// Answers queries. Any Java thread, many at once; a call may wait for the writer thread or for
// another command. The messages of errors are shown to people.
class JavaApi {
 public:
  virtual ~JavaApi() = default;

  // Returns the rows of NativeMetrics.describe; "" where that has null.
  virtual std::vector<std::string> Describe() = 0;
  // Returns a thread's total since it started. `metric`: its number, here and below.
  virtual absl::StatusOr<int64_t> TotalOf(JNIEnv* jni, jthread thread, uint32_t metric) = 0;
  // Returns the process's total since the JVM started.
  virtual absl::StatusOr<int64_t> ProcessTotal(uint32_t metric) = 0;
  // Returns the number of the program's counter, which is made if it does not exist yet.
  virtual absl::StatusOr<uint32_t> Counter(absl::string_view name, absl::string_view unit) = 0;

  // Returns counts since the recording began, of one thread or, with nullopt, of all threads.
  virtual absl::StatusOr<metrics::MethodTotals> Method(std::optional<uint64_t> java_tid,
                                                       uint32_t metric,
                                                       absl::string_view pattern) = 0;
  // Opens a window, from the thread `java_tid` on, and returns its number.
  virtual absl::StatusOr<uint64_t> OpenWindow(metrics::WindowScope scope, uint64_t java_tid) = 0;
  // As Method, for the counts of a window.
  virtual absl::StatusOr<metrics::MethodTotals> WindowMethod(uint64_t window, uint32_t metric,
                                                             absl::string_view pattern) = 0;
  // As NativeMetrics.windowPaths. `below`: only paths of the opening thread in such a method;
  // `pattern`: only paths that end in such a method; "": any.
  virtual absl::StatusOr<std::string> WindowPaths(uint64_t window, uint32_t metric,
                                                  absl::string_view below,
                                                  absl::string_view pattern, int top) = 0;
  // Does nothing if the window is not open.
  virtual void CloseWindow(uint64_t window) = 0;
  // Returns nullopt if the pattern names a method with probes; else the nearest name of such a
  // method, "" if there are none.
  virtual absl::StatusOr<std::optional<std::string>> NearestMethod(absl::string_view pattern) = 0;
  // Returns the total of the threads that descend from the one that opened the window.
  virtual absl::StatusOr<int64_t> WindowTotal(uint64_t window, uint32_t metric) = 0;

  // Returns the number of the label set `outer` with `key` set to `value`, or without `key` if that
  // is empty; samples::kUnknownLabels: the set has no number.
  virtual uint32_t Labels(uint32_t outer, absl::string_view key, absl::string_view value) = 0;
  // Sets the labels of the calling thread; `virtual_tid` as in samples::SetLabels.
  virtual void SetLabels(uint32_t number, uint64_t virtual_tid) = 0;

  // The segments must live forever.
  virtual events::Segments& segments() = 0;

  // Carries out a command of `jtrace` and returns what it prints.
  virtual absl::StatusOr<std::string> Command(absl::string_view verb,
                                              absl::string_view argument) = 0;
};

// Defines jtrace.NativeMetrics in the boot loader's unnamed module, once per JVM, in VMInit or
// later, when everything that its answers need is ready. `java_api` must live forever. Leaves no
// Java exception pending. FailedPrecondition: the JVM refuses the class.
absl::Status DefineNativeMetrics(JNIEnv* jni, JavaApi* java_api);

// Returns the windows that the calling thread, which is starting, inherits. Runs Java code.
std::vector<uint64_t> InheritedWindows(JNIEnv* jni);

}  // namespace jtrace::api
