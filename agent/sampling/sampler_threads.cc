// The threads of a recording: which have a slot and a timer.
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <vector>

#include "agent/base/clock.h"
#include "agent/sampling/sampler_impl.h"

namespace jtrace::sampling {

using hot::SlotState;
using hot::ThreadSlot;

void Sampler::Impl::Identify(ThreadSlot* slot, uint32_t thread_number, uint64_t java_tid,
                             uintptr_t java_thread) {
  slot->thread_number.store(thread_number, std::memory_order_relaxed);
  slot->java_tid.store(java_tid, std::memory_order_relaxed);
  const JvmView::Stack stack = jvm_.StackOf(java_thread);
  slot->java_thread.store(java_thread, std::memory_order_relaxed);
  slot->stack_low.store(stack.low, std::memory_order_relaxed);
  slot->stack_high.store(stack.high, std::memory_order_relaxed);
}

absl::Status Sampler::Impl::Attach(pid_t tid, uint32_t thread_number, uint64_t java_tid,
                                   uintptr_t java_thread) {
  absl::MutexLock lock(&mutex_);
  if (!running_) return absl::FailedPreconditionError("the sampler does not run");
  if (handler_replaced_) return absl::FailedPreconditionError("the handler is no longer ours");
  const bool own = tid == gettid();
  const auto known = slot_by_tid_.find(tid);
  if (known != slot_by_tid_.end() && !own) {
    // Its handler may be running, so the slot cannot be replaced. A Java thread that has attached
    // itself meanwhile has better data.
    if (java_tid != 0 || known->second->java_tid.load(std::memory_order_relaxed) == 0) {
      Identify(known->second, thread_number, java_tid, java_thread);
    }
    return absl::OkStatus();
  }
  // Attached by others before, or left over from an ended thread with the same tid.
  if (known != slot_by_tid_.end()) {
    ThreadSlot* const before = known->second;
    DetachLocked(before);
    ThreadTimers::Release(before);
  }
  ThreadSlot* const slot = pool_->Take();
  if (slot == nullptr) {
    failures_.CountNoSlot(/*all_used=*/pool_->used() == pool_->capacity());
    return absl::ResourceExhaustedError("no thread slot is free");
  }
  slot->os_tid = tid;
  slot->in_handler = false;
  slot->remembered_frames = 0;
  slot->unread_looks = 0;
  LoseDueTicks(slot);  // of its previous thread
  Identify(slot, thread_number, java_tid, java_thread);
  slot->state.store(SlotState::kAttached, std::memory_order_release);
  if (own) {
    hot::tls_thread_slot = slot;
    hot::tls_os_tid = tid;
  }
  absl::Status status = timers_->Arm(slot);
  if (!status.ok()) {
    failures_.CountNoTimer(status);
    if (own) hot::tls_thread_slot = nullptr;
    ThreadTimers::Release(slot);
    pool_->Give(slot);
    return status;
  }
  slot_by_tid_[tid] = slot;
  return absl::OkStatus();
}

bool Sampler::Impl::IsAttached(pid_t tid) const {
  absl::MutexLock lock(&mutex_);
  return slot_by_tid_.contains(tid);
}

void Sampler::Impl::LoseDueTicks(ThreadSlot* slot) {
  lost_ticks_ += slot->due_ticks.exchange(0, std::memory_order_acq_rel);
}

void Sampler::Impl::DetachLocked(ThreadSlot* slot) {
  if (timers_->kind() == TimerKind::kWall) {
    const auto index = static_cast<uint32_t>(slot - pool_->slots());
    wall_clock_->Finish(*slot, index, MonotonicNanos());
  }
  timers_->Disarm(slot);
  slot_by_tid_.erase(slot->os_tid);
  if (slot->os_tid == gettid()) hot::tls_thread_slot = nullptr;
  slot->state.store(SlotState::kDetached, std::memory_order_release);
}

void Sampler::Impl::Detach(pid_t tid) {
  absl::MutexLock lock(&mutex_);
  const auto known = slot_by_tid_.find(tid);
  if (known == slot_by_tid_.end()) return;
  ThreadSlot* const slot = known->second;
  DetachLocked(slot);
  ThreadTimers::Release(slot);  // its handler runs on this thread only
}

void Sampler::Impl::SweepEndedThreads() {
  jvm_.PublishStubs();
  absl::MutexLock lock(&mutex_);
  std::vector<ThreadSlot*> ended;
  const pid_t process = getpid();
  for (const auto& [tid, slot] : slot_by_tid_) {
    if (syscall(SYS_tgkill, process, tid, 0) != 0 && errno == ESRCH) ended.push_back(slot);
  }
  for (ThreadSlot* const slot : ended) {
    DetachLocked(slot);
    ThreadTimers::Release(slot);
  }
  for (uint32_t i = 0; i < pool_->used(); ++i) watch_.Look(i, pool_->slots()[i]);
}

// Their slots stay attached: a handler may be about to finish its record.
void Sampler::Impl::DisarmAll() {
  absl::MutexLock lock(&mutex_);
  for (const auto& [tid, slot] : slot_by_tid_) timers_->Disarm(slot);
}

void Sampler::Impl::DetachAll() {
  absl::MutexLock lock(&mutex_);
  std::vector<ThreadSlot*> attached;
  for (const auto& [tid, slot] : slot_by_tid_) attached.push_back(slot);
  for (ThreadSlot* const slot : attached) DetachLocked(slot);
}

}  // namespace jtrace::sampling
