// Delivers the sealed traces of a folder to targets, the oldest first.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "postproc/ship/backoff.h"
#include "postproc/ship/kept_files.h"
#include "postproc/ship/ledger.h"
#include "postproc/ship/sealed_traces.h"
#include "postproc/ship/ship_metrics.h"
#include "postproc/ship/stop_signal.h"
#include "postproc/ship/target.h"
#include "postproc/ship/trace_mover.h"
#include "postproc/ship/tries.h"

namespace jtrace::ship {

struct ShipPolicy {
  std::string folder = {};  // of the traces
  Keep shipped = {};        // how long DIR/shipped keeps a trace
  uint64_t most_waiting_bytes = uint64_t{4} << 30;
  absl::Duration interval = absl::Seconds(1);
  absl::Duration settled = absl::Seconds(1);
  std::string metrics_file = {};  // empty: none
};

// On one thread. Whenever it is killed, the next one goes on where it was: what is sealed is
// delivered at least once, and a repeat is the same.
class Shipper {
 public:
  using Say = std::function<void(std::string_view line)>;

  // `say`: problems, a line each.
  Shipper(ShipPolicy policy, std::vector<std::unique_ptr<Target>> targets, StopSignal& stop,
          Say say);
  ~Shipper();

  // Becomes the only one of its folder. FailedPrecondition: another shipper runs there.
  absl::Status Open();
  // Until a stop is requested.
  void Run();
  // What is sealed now, each trace once; a target that fails five times in a row gets no more.
  // False if something still waits, was dropped, or cannot be read.
  bool RunOnce();
  const ShipMetrics& metrics() const { return metrics_; }

 private:
  struct Destination {
    std::unique_ptr<Target> target;
    Backoff backoff;
    bool said = false;  // that it does not work
    TargetCounts& counts;
  };

  absl::Status TakeFolder();
  void Step();
  FolderContents Look();
  bool IsReady(const Destination& to, const SealedTrace& trace) const;
  // True if the trace has left the folder.
  bool Ship(const SealedTrace& trace);
  // True if the target needs it no more.
  bool Deliver(const SealedTrace& trace, Destination& to);
  bool Delivered(const SealedTrace& trace, const Delivery& delivery, Destination& to);
  bool Refused(const SealedTrace& trace, const std::string& reason, Destination& to);
  bool Failed(const SealedTrace& trace, const Delivery& delivery, Destination& to);
  bool Leave(const SealedTrace& trace);
  bool SetAside(const SealedTrace& trace, const std::string& reasons);
  bool Discard(const SealedTrace& trace);
  void Drop(std::vector<SealedTrace>& left);
  void Tidy(absl::Time now, const std::vector<SealedTrace>& left);
  void WriteMetrics(absl::Time now);

  const ShipPolicy policy_;
  StopSignal& stop_;
  const Say say_;
  ShipMetrics metrics_;
  std::vector<Destination> destinations_;
  Ledger ledger_;
  Tries tries_;
  TraceMover mover_;
  bool tries_once_ = false;
  int lock_ = -1;
  absl::Duration looking_ = absl::ZeroDuration();  // how long it took, the last time
  // By the steady clock.
  absl::Time tidied_ = absl::InfinitePast();
  absl::Time metrics_written_ = absl::InfinitePast();
  std::string said_unreadable_;
  bool cannot_look_ = false;
};

}  // namespace jtrace::ship
