// Reached by the C functions. Lock-free except for Guarded.
#pragma once

#include <cxxabi.h>

#include <cstdint>
#include <exception>
#include <new>

#include "agent/abi/host.h"
#include "agent/api/c/jtrace.h"

namespace jtrace::abi {

// JTRACE_OK: the two functions below may be called. Async-signal-safe.
int32_t State();
Host& TheHost();
metrics::ThreadCounters& Counters();

// Runs `call` unless the agent is not running. The only exception that leaves it is that of a
// thread's cancellation, which must.
template <typename Call>
int32_t Guarded(Call call) {
  if (const int32_t state = State(); state != JTRACE_OK) return state;
  try {
    return call();
  } catch (::abi::__forced_unwind&) {
    throw;
  } catch (const std::bad_alloc&) {
    return JTRACE_E_MEMORY;
  } catch (...) {
    return JTRACE_E_INTERNAL;
  }
}

}  // namespace jtrace::abi
