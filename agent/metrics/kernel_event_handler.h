// The handler of the signals that the kernel's events of a thread send: each is charged to what the
// thread does (counts of a perf event, S5.5).
//
// A perf event of the thread is the kernel's accumulator for it: what the processors counted is
// added to it whenever they leave the thread. Every so many events the kernel stops it and signals
// the thread, whose handler charges that many to the thread's counters and starts it again; a probe
// charges those to the call path. The handler does not read the event: a program that closes all
// descriptors may have given its number to a file.
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

// One event of one thread. Only that thread uses it, with the signal blocked, and whoever closes
// it, after it has left the table. A handler of another thread whose signal comes late reads only
// os_tid, so an event is used again only once no handler is in flight.
struct EventCount {
  int fd = -1;
  pid_t os_tid = 0;  // the thread's
  uint32_t metric = 0;
  int64_t period = 1;   // events between two signals
  int64_t charged = 0;  // of what the kernel has counted
};

// Events by the number of their descriptor; larger numbers are refused.
inline constexpr int kMaxDescriptors = 1 << 16;
std::atomic<EventCount*>& EventOfDescriptor(int fd);

// Handlers of event signals that run now.
extern constinit signal_safe::InFlight event_handlers;

// Charges so many events to the calling thread, whose event it is, or to the virtual thread on it.
// Nothing if the thread is not counted yet.
void Charge(EventCount& event, int64_t events);

// Of the signal that events send, to the thread that they are of. Starts the event again.
void HandleEventSignal(int signal, siginfo_t* info, void* context);

}  // namespace jtrace::metrics
