// Which labels a thread has now (JTrace.label): the number of its label set, which samples carry.
#pragma once

#include <cstdint>

#include "agent/samples/handler/thread_identity.h"
#include "agent/samples/handler/thread_slot.h"

namespace jtrace::samples {

// The numbers of label sets, from 1 on.
inline constexpr uint32_t kNoLabels = 0;
inline constexpr uint32_t kMaxLabelSets = 10'000;
// Stands for labels that got no number, because there are too many sets.
inline constexpr uint32_t kUnknownLabels = 0xFFFF;

// Sets the labels of the calling thread: of the virtual thread with that id or, if it is 0, of the
// platform thread. False: too many virtual threads have labels, and this one gets none.
bool SetLabels(uint32_t number, uint64_t virtual_tid);

// Returns the labels of the Java thread that runs on the calling thread. Async-signal-safe.
uint32_t LabelsOf(const Identity& identity, const ThreadSlot& slot);
// The same for a virtual thread that runs on the calling thread, by its id.
uint32_t LabelsOfVirtualThread(uint64_t virtual_tid);

}  // namespace jtrace::samples
