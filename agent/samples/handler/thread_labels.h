// Which labels a thread has now (JTrace.label): the number of its label set, which samples carry.
#pragma once

#include <cstdint>

#include "agent/samples/handler/thread_identity.h"
#include "agent/samples/handler/thread_slot.h"
#include "agent/signal_safe/label_numbers.h"

namespace jtrace::samples {

// Sets the labels of the thread that calls: of the virtual thread with that id, or (0) of the
// platform thread. False: too many virtual threads have labels; this one then has none.
bool SetLabels(uint32_t number, uint64_t virtual_tid);

// The labels of the Java thread that runs on the calling thread. Async-signal-safe.
uint32_t LabelsOf(const Identity& identity, const ThreadSlot& slot);
// The same of a virtual thread that runs on the calling thread, by its id.
uint32_t LabelsOfVirtualThread(uint64_t virtual_tid);

}  // namespace jtrace::samples
