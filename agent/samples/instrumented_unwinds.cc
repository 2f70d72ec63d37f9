#include "agent/samples/instrumented_unwinds.h"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "agent/base/signals_blocked.h"
#include "agent/samples/handler/sample_handler.h"
#include "agent/signal_safe/agent_work_scope.h"
#include "agent/signal_safe/signal_scope.h"

namespace jtrace::samples {
constinit InstrumentedUnwinds instrumented_unwinds;

bool InstrumentedUnwinds::Set(uint32_t routine, uint32_t every) {
  if (routine >= kMaxRoutines) return false;
  Routine* routines = routines_.load(std::memory_order_acquire);
  if (routines == nullptr) {
    // Zero pages are valid routines; only the pages of set routines take memory.
    void* const memory = mmap(nullptr, kMaxRoutines * sizeof(Routine), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    if (routines_.compare_exchange_strong(routines, static_cast<Routine*>(memory))) {
      routines = static_cast<Routine*>(memory);
    } else {
      munmap(memory, kMaxRoutines * sizeof(Routine));
    }
  }
  routines[routine].every.store(every, std::memory_order_relaxed);
  uint32_t end = end_.load(std::memory_order_relaxed);
  while (end <= routine && !end_.compare_exchange_weak(end, routine + 1)) {
  }
  return true;
}

void InstrumentedUnwinds::Clear() {
  Routine* const routines = routines_.load(std::memory_order_acquire);
  const uint32_t end = end_.exchange(0);
  for (uint32_t i = 0; i < end; ++i) {
    if (routines[i].every.load(std::memory_order_relaxed) == 0) continue;
    routines[i].every.store(0, std::memory_order_relaxed);
    routines[i].entries.store(0, std::memory_order_relaxed);
  }
  missed_.store(0, std::memory_order_relaxed);
}

bool InstrumentedUnwinds::CountEntry(uint32_t routine) {
  Routine* const routines = routines_.load(std::memory_order_acquire);
  if (routines == nullptr || routine >= kMaxRoutines) return false;
  const uint32_t every = routines[routine].every.load(std::memory_order_relaxed);
  if (every == 0) return false;
  return routines[routine].entries.fetch_add(1, std::memory_order_relaxed) % every == 0;
}

void UnwindAtEntry(uint32_t routine) {
  if (!instrumented_unwinds.CountEntry(routine)) return;
  const signal_safe::AgentWorkScope own;
  const signal_safe::SignalScope scope(signal_safe::handlers_in_flight);
  const SampleHandlerConfig* const config = sample_handler_config.load(std::memory_order_seq_cst);
  if (config == nullptr) return;
  const SignalBlocked blocked(config->signal);
  ucontext_t context;
  getcontext(&context);
  if (!TakeUnwind(*config, &context, SIZE_MAX)) instrumented_unwinds.CountMissed();
}

}  // namespace jtrace::samples
