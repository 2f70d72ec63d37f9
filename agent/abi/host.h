// What the C functions of api/c/jtrace.h ask of the agent in this JVM.
//
// Threads: everything from any thread but signal handlers; a call may wait for the writer thread or
// for another command. Codes of errors are those of agent/abi/codes.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "agent/metrics/thread_counters.h"
#include "agent/metrics/tree_snapshot.h"

namespace jtrace::abi {

class Host {
 public:
  virtual ~Host() = default;

  // Handlers use it too: it must live for ever.
  virtual metrics::ThreadCounters& counters() = 0;
  // The calling thread is counted from here on, as the Java thread that it may be. Its numbers;
  // none: no memory.
  virtual std::optional<metrics::ThreadCounters::Identity> Meet() = 0;
  // Java threads that began before anybody counted them are counted from here on.
  virtual void MeetThreads() = 0;

  // nullopt: of all threads. Since the recording began.
  virtual absl::StatusOr<metrics::MethodTotals> Method(std::optional<uint64_t> java_tid,
                                                       uint32_t metric,
                                                       absl::string_view pattern) = 0;
  virtual absl::StatusOr<uint64_t> OpenWindow(std::optional<uint64_t> java_tid) = 0;
  virtual absl::StatusOr<metrics::MethodTotals> WindowMethod(uint64_t window, uint32_t metric,
                                                             absl::string_view pattern) = 0;
  // False: it is not open.
  virtual bool CloseWindow(uint64_t window) = 0;
  virtual absl::StatusOr<std::string> Command(absl::string_view verb,
                                              absl::string_view argument) = 0;
};

// The C functions answer from here on. Once; `host` must live for ever.
void Publish(Host& host);
// They answer JTRACE_E_ENDED from here on; calls that run may go on.
void End();

}  // namespace jtrace::abi
