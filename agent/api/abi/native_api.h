// What the C functions of api/c/jtrace.h request from the agent of this JVM.
//
// Threads: any thread except in signal handlers; a call may wait for the writer thread or for
// another command. agent/api/abi/codes.h turns the errors into codes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "agent/events/segments.h"
#include "agent/metrics/thread_counters.h"
#include "agent/metrics/tree_windows.h"

namespace jtrace::abi {

class NativeApi {
 public:
  virtual ~NativeApi() = default;

  // The counters of all threads. They must live forever: signal handlers use them, too.
  virtual metrics::ThreadCounters& counters() = 0;
  // Counts the calling thread from here on, as a Java thread if it is one. Returns its ids; none:
  // no memory.
  virtual std::optional<metrics::ThreadCounters::Identity> RegisterThread() = 0;
  // Counts, from here on, the Java threads that started before counting began.
  virtual void RegisterThreads() = 0;

  // Returns counts since the recording began. `java_tid` nullopt, here and below: all threads.
  virtual absl::StatusOr<metrics::MethodTotals> Method(std::optional<uint64_t> java_tid,
                                                       uint32_t metric,
                                                       absl::string_view pattern) = 0;
  // Opens a window for a Java thread, or for all. Returns its number.
  virtual absl::StatusOr<uint64_t> OpenWindow(std::optional<uint64_t> java_tid) = 0;
  // As Method, for the counts of a window.
  virtual absl::StatusOr<metrics::MethodTotals> WindowMethod(uint64_t window, uint32_t metric,
                                                             absl::string_view pattern) = 0;
  // Returns false if the window is not open.
  virtual bool CloseWindow(uint64_t window) = 0;
  // The segments must live forever.
  virtual events::Segments& segments() = 0;
  // Runs a command of `jtrace` and returns its output. May wait for another command.
  virtual absl::StatusOr<std::string> Command(absl::string_view verb,
                                              absl::string_view argument) = 0;
};

// Lets the C functions answer from here on. Called once; `native_api` must live forever.
void Publish(NativeApi& native_api);
// Lets the C functions answer JTRACE_E_ENDED from here on; running calls may continue.
void End();

}  // namespace jtrace::abi
