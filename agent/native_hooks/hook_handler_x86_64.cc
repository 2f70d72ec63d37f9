#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "agent/base/clock.h"
#include "agent/native_hooks/hook_handler.h"
#include "agent/native_hooks/hook_thread.h"
#include "agent/native_hooks/trap_action.h"
#include "agent/samples/handler/sample_handler.h"
#include "agent/samples/handler/thread_identity.h"
#include "agent/signal_safe/agent_work_scope.h"
#include "agent/signal_safe/doorbell.h"
#include "agent/signal_safe/patch_sites.h"
#include "agent/signal_safe/previous_actions.h"
#include "agent/signal_safe/safe_read.h"
#include "agent/signal_safe/signal_scope.h"

namespace jtrace::native_hooks {

constinit const bool kHasHooks = true;
constinit HookCounters hook_counters;

namespace {

// Set while the handler acts: a hook in a function that it calls is passed without an action.
constinit thread_local bool tls_in_hook __attribute__((tls_model("initial-exec"))) = false;

uintptr_t StackPointer(const ucontext_t& context) {
  return static_cast<uintptr_t>(context.uc_mcontext.gregs[REG_RSP]);
}

// Claims an entry whose thread has ended. Null: there is none.
HookThread* AllocateThread(HookThread* threads, uint32_t count, int32_t tid) {
  for (uint32_t i = 0; i < count; ++i) {
    int32_t free = 0;
    if (threads[i].os_tid.load(std::memory_order_relaxed) == 0 &&
        threads[i].os_tid.compare_exchange_strong(free, tid)) {
      return &threads[i];
    }
  }
  return nullptr;
}

HookThread* CurrentThread() {
  if (tls_hook_thread != nullptr) return tls_hook_thread;
  HookThread* const threads = hook_threads.load(std::memory_order_acquire);
  if (threads == nullptr) return nullptr;
  const int32_t tid = gettid();
  if (free_hook_threads.load(std::memory_order_relaxed) > 0) {
    const uint32_t used = std::min(hook_threads_used.load(), kMaxHookThreads);
    tls_hook_thread = AllocateThread(threads, used, tid);
    if (tls_hook_thread != nullptr) free_hook_threads.fetch_sub(1);
  }
  if (tls_hook_thread == nullptr && hook_threads_used.load() < kMaxHookThreads) {
    const uint32_t next = hook_threads_used.fetch_add(1);
    if (next >= kMaxHookThreads) return nullptr;
    // Another thread may have found it free already.
    int32_t free = 0;
    if (threads[next].os_tid.compare_exchange_strong(free, tid)) tls_hook_thread = &threads[next];
  }
  return tls_hook_thread;
}

// The thread's slot of samples; null: none is known. A thread that another one attached learns its
// slot by its first sample. Until then it is searched for at the 1st, 2nd, 4th, 8th … hit.
samples::ThreadSlot* SlotOf(const samples::SampleHandlerConfig& config, HookThread& thread) {
  if (samples::ThreadSlot* const own = samples::CurrentThreadSlot(); own != nullptr) return own;
  const uint32_t hits = ++thread.hits_without_slot;
  if ((hits & (hits - 1)) != 0) return nullptr;
  const int32_t tid = thread.os_tid.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < config.slot_count && config.slots[i].os_tid != 0; ++i) {
    samples::ThreadSlot& slot = config.slots[i];
    if (slot.os_tid != tid ||
        slot.state.load(std::memory_order_acquire) != samples::SlotState::kAttached) {
      continue;
    }
    samples::tls_os_tid = tid;
    samples::tls_thread_slot = &slot;
    return &slot;
  }
  return nullptr;
}

HookCaller CallerAt(signal_safe::SiteBinding binding, HookThread& thread, uintptr_t sp) {
  HookCaller caller;
  caller.node = 0;
  caller.java_tid = 0;
  caller.thread_number = 0;
  caller.position_known = false;
  for (uint32_t& jumped : caller.jumped) jumped = 0;
  caller.placement = binding.placement;
  caller.address = (binding.actions & signal_safe::kHookEntry) != 0
                       ? *reinterpret_cast<const uintptr_t*>(sp)
                       : 0;
  const samples::SampleHandlerConfig* const config =
      samples::sample_handler_config.load(std::memory_order_seq_cst);
  if (config == nullptr || !config->active) return caller;
  const samples::ThreadSlot* const slot = SlotOf(*config, thread);
  if (slot == nullptr) return caller;
  caller.thread_number = slot->thread_number.load(std::memory_order_relaxed);
  const samples::Identity identity = samples::CurrentJavaThread(*config, *slot);
  caller.java_tid = identity.java_tid;
  if (identity.known && config->read_position != nullptr) {
    const signal_safe::Position position = config->read_position(identity.java_tid);
    caller.node = position.known ? position.node : 0;
    caller.position_known = position.known;
  }
  return caller;
}

void WantReturn(HookThread& thread, uintptr_t address) {
  if (UntimedReturn(address).load(std::memory_order_relaxed) == address) return;
  if (thread.wanted_return.load(std::memory_order_relaxed) == address) return;
  thread.wanted_return.store(address, std::memory_order_relaxed);
  signal_safe::writer_doorbell.Ring();
}

void AddTime(HookRows& rows, const OpenHookCall& open, uint64_t now) {
  HookRow* const row = rows.Row(open.caller);
  if (row == nullptr) return;
  const uint64_t time = now - open.start_ns;
  ++row->timed;
  row->total_ns += time;
  row->min_ns = std::min(row->min_ns, time);
  row->max_ns = std::max(row->max_ns, time);
}

// Whether the thread, now at `sp`, has left the call at `open_sp`. Code on the alternate stack has
// left no call on the main stack, which it interrupted. Code on the main stack has left all calls
// on the alternate one.
bool IsUnwound(const signal_safe::AlternateStack& alternate, uintptr_t open_sp, uintptr_t sp) {
  const bool is_handlers = alternate.Has(open_sp);
  return is_handlers == alternate.Has(sp) ? open_sp < sp : is_handlers;
}

// Closes the calls from the `count`-th on, which longjmp or an exception left without a return:
// their end is seen only now.
void CloseUnwound(HookThread& thread, HookRows& rows, uint32_t count) {
  if (thread.open_count == count) return;
  const uint64_t now = MonotonicNanos();
  while (thread.open_count != count) {
    const OpenHookCall& open = thread.open[--thread.open_count];
    // Calls of an earlier placement of the hook are dropped.
    if (open.site->binding.load(std::memory_order_relaxed).placement != open.caller.placement) {
      continue;
    }
    hook_counters.unwound_calls.fetch_add(1, std::memory_order_relaxed);
    AddTime(rows, open, now);
  }
}

// How many open calls are still open when `site` is called at `sp`. Deeper ones have ended, and so
// has one of the same function at the same `sp`. Others at the same `sp` continued by a jump.
uint32_t StillOpen(const HookThread& thread, const signal_safe::AlternateStack& alternate,
                   const signal_safe::PatchSite& site, uintptr_t sp) {
  const OpenHookCall* const open = thread.open;
  uint32_t count = thread.open_count;
  while (count != 0 && IsUnwound(alternate, open[count - 1].sp, sp)) --count;
  for (uint32_t i = count; i != 0 && open[i - 1].sp == sp; --i) {
    if (open[i - 1].site == &site) return i - 1;
  }
  return count;
}

// Adds the functions that led to this call by jumps (tail calls): a timed call that is open
// at the same `sp` with the same return address has jumped here.
void AddJumps(const HookThread& thread, HookCaller& caller, uintptr_t sp) {
  uint32_t i = thread.open_count;
  while (i != 0 && thread.open[i - 1].sp < sp) --i;
  if (i == 0 || thread.open[i - 1].sp != sp) return;
  const HookCaller& from = thread.open[i - 1].caller;
  if (from.address != caller.address) return;
  uint32_t count = 0;
  while (count != HookCaller::kMaxJumps && from.jumped[count] != 0) ++count;
  const uint32_t left_out = count == HookCaller::kMaxJumps ? 1 : 0;
  for (uint32_t k = left_out; k != count; ++k) caller.jumped[k - left_out] = from.jumped[k];
  caller.jumped[count - left_out] = from.placement;
}

// Opens a timed call if its return address has a site; if not, requests one from the writer.
void AwaitReturn(const signal_safe::PatchSite& site, HookThread& thread, const HookCaller& caller,
                 uintptr_t sp) {
  const signal_safe::PatchSite* const back =
      signal_safe::patch_sites.load(std::memory_order_relaxed)->Find(caller.address);
  if (back == nullptr ||
      (back->binding.load(std::memory_order_relaxed).actions & signal_safe::kHookReturn) == 0) {
    return WantReturn(thread, caller.address);
  }
  if (thread.open_count == HookThread::kMaxOpen) {
    hook_counters.open_dropped.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  OpenHookCall& open = thread.open[thread.open_count++];
  open.caller = caller;
  open.site = &site;
  open.sp = sp;
  open.start_ns = MonotonicNanos();
}

void Called(signal_safe::PatchSite& site, signal_safe::SiteBinding binding, HookThread& thread,
            HookRows& rows, const signal_safe::AlternateStack& alternate, uintptr_t sp) {
  constexpr uint32_t kTimed = signal_safe::kHookTime | signal_safe::kHookEntry;
  const bool is_timed = (binding.actions & kTimed) == kTimed;
  if (is_timed) CloseUnwound(thread, rows, StillOpen(thread, alternate, site, sp));
  HookCaller caller = CallerAt(binding, thread, sp);
  if (caller.address != 0) AddJumps(thread, caller, sp);
  HookRow* const row = rows.Row(caller);
  if (row != nullptr) {
    // The call that fills half of the rows has the writer take them.
    const bool is_new = row->calls++ == 0;
    if (is_new && rows.count.load(std::memory_order_relaxed) == HookRows::kMaxRows / 2) {
      signal_safe::writer_doorbell.Ring();
    }
  } else {
    site.unattributed.fetch_add(1, std::memory_order_relaxed);
  }
  if (is_timed) AwaitReturn(site, thread, caller, sp);
}

// `sp`: above the popped return address. One return ends every call that continued by a jump.
void Returned(HookThread& thread, HookRows& rows, uintptr_t address,
              const signal_safe::AlternateStack& alternate, uintptr_t sp) {
  const uint64_t now = MonotonicNanos();
  while (thread.open_count != 0) {
    const OpenHookCall& open = thread.open[thread.open_count - 1];
    if (!IsUnwound(alternate, open.sp, sp)) return;
    if (open.sp == sp - sizeof(uintptr_t) && open.caller.address == address) {
      --thread.open_count;
      AddTime(rows, open, now);
    } else {
      CloseUnwound(thread, rows, thread.open_count - 1);
    }
  }
}

void Act(signal_safe::PatchSite& site, const ucontext_t& context) {
  const signal_safe::SiteBinding binding = site.binding.load(std::memory_order_relaxed);
  const uint32_t actions = binding.actions;
  if (actions == 0) return;
  const signal_safe::SignalScope scope(signal_safe::handlers_in_flight);
  const bool is_call = (actions & signal_safe::kHookCount) != 0;
  if (is_call) site.calls.fetch_add(1, std::memory_order_relaxed);
  HookThread* const thread = CurrentThread();
  if (thread == nullptr) {
    if (is_call) site.unattributed.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  thread->busy.store(1, std::memory_order_seq_cst);
  HookRows& rows = thread->rows[thread->active.load(std::memory_order_seq_cst)];
  const uintptr_t sp = StackPointer(context);
  const signal_safe::AlternateStack alternate(context);
  if ((actions & signal_safe::kHookReturn) != 0)
    Returned(*thread, rows, site.address, alternate, sp);
  if (is_call) Called(site, binding, *thread, rows, alternate, sp);
  thread->busy.store(0, std::memory_order_release);
  if ((actions & signal_safe::kHookUnwind) == 0) return;
  const samples::SampleHandlerConfig* const config =
      samples::sample_handler_config.load(std::memory_order_seq_cst);
  if (config == nullptr || !samples::TakeUnwind(*config, &context, alternate.Room())) {
    hook_counters.unwinds_missed.fetch_add(1, std::memory_order_relaxed);
  }
}

bool IsInt3(uintptr_t address) {
  const uintptr_t word = signal_safe::SafeReadOr0(address & ~uintptr_t{7});
  return static_cast<uint8_t>(word >> 8 * (address & 7)) == 0xcc;
}

// The trap that is being forwarded, and the frame that does so: the program's handler may pass it
// back. A longjmp out of that handler leaves this set, but a later trap's frame is not deeper.
struct Forwarding {
  const void* context;
  const void* frame;
};
constinit thread_local Forwarding tls_forwarding
    __attribute__((tls_model("initial-exec"))) = {nullptr, nullptr};

// Blocks the signals that the kernel would for the program's handler, except SIGTRAP itself.
void BlockFor(const struct sigaction& action, const void* context) {
  uint64_t interrupted = 0;
  uint64_t wanted = 0;
  const auto& mask = static_cast<const ucontext_t*>(context)->uc_sigmask;
  std::memcpy(&interrupted, &mask, sizeof interrupted);  // the kernel's mask has 64 bits
  std::memcpy(&wanted, &action.sa_mask, sizeof wanted);
  const uint64_t blocked = (interrupted | wanted) & ~(uint64_t{1} << (SIGTRAP - 1));
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &blocked, nullptr, sizeof blocked);
}

// Forwards the trap to the program's handler, or, if that has called us, to the handler that was
// there before both. Returns the action to take if there is no handler; null: none.
const struct sigaction* ForwardOnce(int signal, siginfo_t* info, void* context) {
  const void* const frame = __builtin_frame_address(0);
  if (tls_forwarding.context == context && frame < tls_forwarding.frame) {
    const struct sigaction* const first = first_trap_action.load();
    return first == nullptr || signal_safe::CallHandler(*first, signal, info, context) ? nullptr
                                                                                       : first;
  }
  const struct sigaction* const action = ConsumeTrapAction();
  if (action == nullptr || !signal_safe::IsHandler(*action)) return action;
  tls_forwarding = {context, frame};
  BlockFor(*action, context);
  signal_safe::CallHandler(*action, signal, info, context);
  tls_forwarding = {nullptr, nullptr};
  return nullptr;
}

// Forwards a trap that no hook caused. gdb, if set to pass SIGTRAP on, also passes traps of its own
// breakpoints. Their pc is set back to the int3's place, and they are meant for no handler.
void ForwardTrap(int signal, siginfo_t* info, void* context, uintptr_t pc) {
  const struct sigaction* const action = ForwardOnce(signal, info, context);
  if (action == nullptr) return;
  const bool is_kernels = info->si_code > 0;  // the kernel's cannot be ignored
  if (is_kernels ? !IsInt3(pc - 1) : action->sa_handler == SIG_IGN) return;
  struct sigaction fatal = *action;
  fatal.sa_handler = SIG_DFL;
  signal_safe::RaiseDefaultAction(fatal, signal);
}

// Whether the call is the agent's, not the program's: by a thread of the agent, by its work in
// another thread, or by the handler of a sample.
bool IsAgentWork() {
  if (tls_in_hook || signal_safe::tls_is_agent_thread || signal_safe::tls_agent_work_depth != 0)
    return true;
  const samples::ThreadSlot* const slot = samples::CurrentThreadSlot();
  return slot != nullptr && slot->in_handler;
}

}  // namespace

void HandleTrapSignal(int signal, siginfo_t* info, void* context) {
  auto* const interrupted = static_cast<ucontext_t*>(context);
  greg_t& pc = interrupted->uc_mcontext.gregs[REG_RIP];
  const signal_safe::PatchSites* const sites =
      signal_safe::patch_sites.load(std::memory_order_acquire);
  // Only an int3 is ours: a kill(), a step or a watchpoint may occur at any pc.
  signal_safe::PatchSite* const site = info->si_code == SI_KERNEL && sites != nullptr
                                           ? sites->Find(static_cast<uintptr_t>(pc) - 1)
                                           : nullptr;
  if (site == nullptr) return ForwardTrap(signal, info, context, static_cast<uintptr_t>(pc));
  pc = static_cast<greg_t>(site->address);
  if ((site->binding.load(std::memory_order_relaxed).actions & signal_safe::kHookRemoveAll) != 0) {
    signal_safe::DisableAllHooks();
  } else if (!IsAgentWork()) {
    tls_in_hook = true;
    Act(*site, *interrupted);
    tls_in_hook = false;
  }
  pc = static_cast<greg_t>(site->slot);
}

}  // namespace jtrace::native_hooks
