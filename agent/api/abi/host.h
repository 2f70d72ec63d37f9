// Requests of the C functions of api/c/jtrace.h to the agent in this JVM.
//
// Threads: any thread except in signal handlers; a call may wait for the writer thread or for
// another command. The error codes are those of agent/api/abi/codes.h.
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

class Host {
 public:
  virtual ~Host() = default;

  // Handlers use it too: it must live forever.
  virtual metrics::ThreadCounters& counters() = 0;
  // Counts the calling thread from here on, as a Java thread if it is one. Returns its numbers;
  // none: no memory.
  virtual std::optional<metrics::ThreadCounters::Identity> RegisterThread() = 0;
  // Java threads that started before counting began are counted from here on.
  virtual void RegisterThreads() = 0;

  // nullopt: of all threads. Since the recording began.
  virtual absl::StatusOr<metrics::MethodTotals> Method(std::optional<uint64_t> java_tid,
                                                       uint32_t metric,
                                                       absl::string_view pattern) = 0;
  virtual absl::StatusOr<uint64_t> OpenWindow(std::optional<uint64_t> java_tid) = 0;
  virtual absl::StatusOr<metrics::MethodTotals> WindowMethod(uint64_t window, uint32_t metric,
                                                             absl::string_view pattern) = 0;
  // False: it is not open.
  virtual bool CloseWindow(uint64_t window) = 0;
  // Must live forever.
  virtual events::Segments& segments() = 0;
  virtual absl::StatusOr<std::string> Command(absl::string_view verb,
                                              absl::string_view argument) = 0;
};

// The C functions answer from here on. Once; `host` must live forever.
void Publish(Host& host);
// They answer JTRACE_E_ENDED from here on; running calls may continue.
void End();

}  // namespace jtrace::abi
