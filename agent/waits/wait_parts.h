// For whom a thread waited, part by part.
//
// A thread that is unparked may at once unpark the next one of those that wait on the same object:
// so do the waiters of a latch, a barrier, or a lock in the order of their queue. The last one's
// wait then has a part for each: until the one before it was unparked it waited for whoever that
// one waited for. Pure.
#pragma once

#include <cstdint>
#include <vector>

namespace jtrace::waits {

// A thread that unparks another one.
struct Releaser {
  uint32_t thread = 0;    // Thread.id; 0: it has none yet
  uint64_t java_tid = 0;  // Thread.getId(); 0: unknown
  uint32_t routine = 0;   // Routine.id where it is then; 0: none, or unknown
};

// From the end of the part before it, or the wait's begin.
struct Part {
  uint64_t until_ns = 0;
  Releaser by;
};

// What is known when a thread unparks another one.
struct Unpark {
  Releaser by;
  // The parts of its own last park, and the object (a hash) that this was on; 0: none.
  int32_t object = 0;
  std::vector<Part> parts = {};
};

// The parts of a park on `object` that `unpark` ended.
std::vector<Part> PartsOf(const Unpark& unpark, int32_t object, uint64_t begin_ns, uint64_t end_ns);
// Whose part of a park with that begin is the longest. `parts`: not empty.
const Releaser& LongestOf(const std::vector<Part>& parts, uint64_t begin_ns);

}  // namespace jtrace::waits
