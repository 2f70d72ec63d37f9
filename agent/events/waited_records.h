// Records of waits that ended, with the thread that each was for (0x64), if codes= requests them.
#pragma once

#include "agent/events/monitor_waits.h"
#include "agent/events/park_waits.h"

namespace jtrace::events {

// Start and Stop on the thread of a start or stop.
class WaitedRecords {
 public:
  WaitedRecords(JavaVM* vm, const SessionClock& clock, jvm::ThreadRegistry& threads,
                trace::RecordEncoder& encoder, trace::LimitedEvents& limits, Losses& losses)
      : writer_(threads, encoder),
        monitors_(vm, clock, writer_, limits, losses),
        parks_(vm, clock, writer_, limits, losses) {}

  void Start(const CodeSet& codes) {
    monitors_.Start(codes);
    parks_.Start(codes);
  }
  void Stop() {
    monitors_.Stop();
    parks_.Stop();
  }

 private:
  WaitWriter writer_;
  MonitorWaits monitors_;
  ParkWaits parks_;
};

}  // namespace jtrace::events
