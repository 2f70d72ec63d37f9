// The kernel's events of a thread, each charged to what the thread does (S5.5, second embodiment).
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

#include <atomic>
#include <cstdint>

namespace jtrace::metrics {

// One event of one thread. Only that thread uses it, with the signal blocked, and whoever closes
// it, after Forget.
struct EventCount {
  int fd = -1;
  uint32_t metric = 0;
  int64_t period = 1;   // events between two signals
  int64_t charged = 0;  // of what the kernel has counted
};

// Events by the number of their descriptor; larger numbers are refused.
inline constexpr int kMostDescriptors = 1 << 16;
std::atomic<EventCount*>& EventOfDescriptor(int fd);

// Charges so many events to the calling thread, whose event it is, or to the virtual thread on it.
// Nothing if the thread is not counted yet.
void Charge(EventCount& event, int64_t events);

// Of the signal that events send, to the thread that they are of. Starts the event again.
void HandleEventSignal(int signal, siginfo_t* info, void* context);

}  // namespace jtrace::metrics
