// The handler of the signals that a thread's perf events send: it charges the events to what the
// thread does (counts of a perf event, S5.5).
//
// A perf event of a thread accumulates what the processors count while they run the thread. After
// `period` events the kernel stops the perf event and signals the thread. The handler adds `period`
// to the thread's counters and starts the perf event again; the next probe charges the call path.
// The handler does not read the perf event: if the program has closed all descriptors, the number
// may be that of a file.
//
// Everything but the table is async-signal-safe. The build checks the symbols that the object code
// refers to (handler_symbols.txt).
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>

#include "agent/signal_safe/signal_scope.h"

namespace jtrace::metrics {

// One perf event of one thread. Only that thread uses it, with the signal blocked, and then whoever
// closes it, after it has left the table. A late signal may make a handler of another thread read
// os_tid, so the memory is used again only once no handler is in flight.
struct ThreadPerfEvent {
  int fd = -1;
  pid_t os_tid = 0;  // the thread's
  uint32_t metric = 0;
  int64_t period = 1;   // events between two signals
  int64_t charged = 0;  // events charged so far
};

// The table: returns the entry of a descriptor below kMaxDescriptors; null: it has no event.
inline constexpr int kMaxDescriptors = 1 << 16;
std::atomic<ThreadPerfEvent*>& PerfEventOfFd(int fd);

// Counts the handlers of event signals that run now.
extern constinit signal_safe::InFlight perf_event_handlers;

// Charges `events` to the calling thread, which owns `event`, or to the virtual thread on it. Does
// nothing if the thread is not counted yet.
void Charge(ThreadPerfEvent& event, int64_t events);

// Handles the signal that a perf event sends to its thread. Starts the perf event again.
void HandlePerfEventSignal(int signal, siginfo_t* info, void* context);

}  // namespace jtrace::metrics
