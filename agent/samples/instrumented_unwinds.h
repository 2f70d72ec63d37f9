// Instrumented unwinds (unwind=, records 0x41): which methods take one at entry, and how often.
#pragma once

#include <atomic>
#include <cstdint>

namespace jtrace::samples {

// The methods, by routine number. Any thread; methods that run read the table without a lock.
class InstrumentedUnwinds {
 public:
  // Routine numbers are below this.
  static constexpr uint32_t kMaxRoutines = 1 << 22;

  // From now on, an unwind is due at the first entry of the routine and at each `every`-th after
  // it. False: there was not enough address space, or the number is too large.
  bool Set(uint32_t routine, uint32_t every);
  // No unwind is due any more; counts restart.
  void Clear();

  // Counts an entry of the routine. Returns whether an unwind is due.
  bool CountEntry(uint32_t routine);
  // Counts unwinds that were due but could not be taken.
  void CountMissed() { missed_.fetch_add(1, std::memory_order_relaxed); }
  uint64_t missed() const { return missed_.load(std::memory_order_relaxed); }

 private:
  struct Routine {
    std::atomic<uint32_t> every;  // 0: none
    std::atomic<uint32_t> entries;
  };
  std::atomic<Routine*> routines_{nullptr};
  std::atomic<uint32_t> end_{0};  // all routines that were set are below
  std::atomic<uint64_t> missed_{0};
};

// One for the process: probes in compiled code outlive every recording.
extern constinit InstrumentedUnwinds instrumented_unwinds;

// Counts an entry, and takes an unwind of the calling thread if one is due. Called by probes on
// Java threads, at the entry of the routine.
void UnwindAtEntry(uint32_t routine);

}  // namespace jtrace::samples
