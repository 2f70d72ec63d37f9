// Where traces are delivered to: tables, or a server.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "postproc/ship/sealed_traces.h"
#include "postproc/ship/stop_signal.h"

namespace jtrace::ship {

struct Delivery {
  enum class Outcome {
    kDelivered,
    kLater,    // the target does not work now: try again
    kRefused,  // this trace will never be taken
    kStopped,  // this program ends
  };
  Outcome outcome = Outcome::kDelivered;
  std::string message = {};  // why not, with the remedy; of a conversion its last line
  // The target asks for that much time; zero: as usual.
  absl::Duration wait = absl::ZeroDuration();
  uint64_t bytes = 0;  // sent
  // kLater, but it may be the trace: the third time it is refused.
  bool is_broken = false;
};

class Target {
 public:
  virtual ~Target() = default;
  // Once, before the first trace.
  virtual absl::Status Open() = 0;
  // A trace that is delivered again replaces the earlier one, or has the same profile id.
  virtual Delivery Deliver(const SealedTrace& trace, StopSignal& stop) = 0;
  // For people and metrics: "parquet:data", without passwords.
  virtual const std::string& name() const = 0;
  // For names of files: the same as long as the target is.
  virtual const std::string& key() const = 0;
};

}  // namespace jtrace::ship
