#include "agent/signal_safe/safe_read.h"

#include "agent/signal_safe/machine_context.h"

namespace jtrace::signal_safe {
namespace {

constexpr uintptr_t kLowestAddress = 4096;

// What a failed load returns. If a load returns the first, a second load with the other one shows
// whether it failed or the memory holds that value.
constexpr intptr_t kError1 = 0x5afe'4ead'0bad'0001;
constexpr intptr_t kError2 = 0x5afe'4ead'0bad'0002;

}  // namespace

constinit std::atomic<SafeFetchFunction> safe_fetch{nullptr};

bool RecoverSafeRead(void* ucontext) {
  auto& context = *static_cast<ucontext_t*>(ucontext);
  if (InterruptedPc(context) != reinterpret_cast<uintptr_t>(jtrace_guarded_load_fault)) {
    return false;
  }
  ContinueAt(context, reinterpret_cast<uintptr_t>(jtrace_guarded_load_failed));
  return true;
}

bool SafeReadWord(uintptr_t address, uintptr_t* value) {
  if (address < kLowestAddress || address >= kEndOfUserSpace || address % 8 != 0) return false;
  SafeFetchFunction load = safe_fetch.load(std::memory_order_relaxed);
  if (load == nullptr) load = jtrace_guarded_load;
  auto* const from = reinterpret_cast<intptr_t*>(address);
  intptr_t word = load(from, kError1);
  if (word == kError1) {
    word = load(from, kError2);
    if (word == kError2) return false;
  }
  *value = static_cast<uintptr_t>(word);
  return true;
}

}  // namespace jtrace::signal_safe
