#include "agent/samples/sampler.h"

#include <dirent.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "agent/base/clock.h"
#include "agent/samples/loaded_objects_copy.h"
#include "agent/samples/signals.h"
#include "agent/samples/walk/cfi.h"
#include "agent/samples/walk/frame_cache.h"
#include "agent/signal_safe/doorbell.h"
#include "agent/signal_safe/signal_scope.h"

namespace jtrace::samples {

namespace {

// Requests huge pages and touches them now, so that no handler has to. If the kernel has none, the
// memory stays as it was.
void PrefaultHugePages(MemoryRange range) {
  madvise(range.begin, range.bytes, MADV_HUGEPAGE);
  auto* const bytes = static_cast<char*>(range.begin);
  for (size_t at = 0; at < range.bytes; at += kHugePage) {
    __atomic_fetch_or(bytes + at, 0, __ATOMIC_RELAXED);  // handlers may be writing
  }
}

bool HasEnded(pid_t tid) { return syscall(SYS_tgkill, getpid(), tid, 0) != 0 && errno == ESRCH; }

// Whether a timer was refused because its thread has ended (ESRCH, EINVAL).
bool HasNoClock(const absl::Status& status) {
  return absl::IsNotFound(status) || absl::IsInvalidArgument(status);
}

// False: a handler did not end in time.
bool WaitForHandlers(absl::Duration timeout) {
  const uint64_t begin_ns = MonotonicNanos();
  while (!signal_safe::handlers_in_flight.Idle()) {
    if (absl::Nanoseconds(MonotonicNanos() - begin_ns) > timeout) return false;
    absl::SleepFor(absl::Microseconds(100));
  }
  return true;
}

}  // namespace

absl::Status Sampler::Validate(const SamplerOptions& options) {
  const absl::Duration shortest =
      options.timer == TimerKind::kWall ? kMinWallInterval : kMinInterval;
  if (options.interval < shortest) {
    return absl::InvalidArgumentError(
        absl::StrCat("the interval must be at least ", absl::FormatDuration(shortest)));
  }
  if (options.signal >= SIGRTMIN && options.signal <= SIGRTMAX) {
    return absl::InvalidArgumentError("a real-time signal cannot be used: its queue can overflow");
  }
  const uint64_t largest = sizeof(SampleHeader) + (options.max_frames + 1ull) * sizeof(Frame);
  if (options.max_frames < 2 || !std::has_single_bit(options.ring_bytes) ||
      options.ring_bytes < 2 * largest) {
    return absl::InvalidArgumentError("the ring must be a power of two and hold two full chains");
  }
  if (!std::has_single_bit(options.backlog_bytes) || options.backlog_bytes < options.ring_bytes) {
    return absl::InvalidArgumentError("the backlog must be a power of two, not below a ring");
  }
  return absl::OkStatus();
}

Sampler::Sampler(const SamplerOptions& options, jvm::HotSpotInternals& jvm)
    : options_(options), jvm_(jvm), app_methods_(std::make_unique<jvm::AddressSet>()) {}

Sampler::~Sampler() {
  // An earlier stop may have left a handler behind.
  if (Stop().ok() && signal_safe::handlers_in_flight.Idle()) return;
  // A handler that still runs may read these.
  (void)app_methods_.release();
  (void)timers_.release();
  (void)pool_.release();
}

absl::StatusOr<std::unique_ptr<Sampler>> Sampler::Create(const SamplerOptions& options,
                                                         jvm::HotSpotInternals& jvm) {
  RefreshDsoCopy();
  if (absl::Status status = Validate(options); !status.ok()) return status;
  std::unique_ptr<Sampler> sampler(new Sampler(options, jvm));
  auto timers = ThreadTimers::Create(options, sampler->counters_);
  if (!timers.ok()) return timers.status();
  sampler->timers_ = *std::move(timers);
  auto pool = ThreadSlotPool::Create(
      {options.max_threads, options.ring_bytes, options.max_frames, options.check_last_walk});
  if (!pool.ok()) return pool.status();
  sampler->pool_ = *std::move(pool);
  auto backlog = SampleBacklog::Create(options.backlog_bytes);
  if (!backlog.ok()) return backlog.status();
  sampler->backlog_ = *std::move(backlog);
  return sampler;
}

absl::Status Sampler::Reconfigure(const SamplerOptions& options) {
  {
    absl::MutexLock lock(&mutex_);
    if (running_) return absl::FailedPreconditionError("the sampler runs");
  }
  // A handler that still runs may use what is replaced here, and slots that threads will get.
  if (!WaitForHandlers(absl::Milliseconds(500))) {
    return absl::UnavailableError(
        "a signal handler of the last recording has not ended: its thread is stopped or waits for "
        "memory; try again");
  }
  if (absl::Status status = Validate(options); !status.ok()) return status;
  const TimerChoice& choice = options;
  if (choice != options_) {
    auto timers = ThreadTimers::Create(choice, counters_);
    if (!timers.ok()) return timers.status();
    timers_ = *std::move(timers);
    static_cast<TimerChoice&>(options_) = choice;
  }
  options_.stack = options.stack;
  options_.read_position = options.read_position;
  return absl::OkStatus();
}

absl::Status Sampler::ResolveJvm(JNIEnv* env) {
  // Resolve reads memory that may be unmapped, with guarded loads.
  signal_safe::safe_fetch.store(jvm_.safe_fetch(), std::memory_order_relaxed);
  absl::Status status = jvm_.safe_fetch() == nullptr ? InstallFaultHandler() : absl::OkStatus();
  if (status.ok()) jvm_.Resolve(env);
  return status;
}

absl::Status Sampler::Start(JNIEnv* env) {
  {
    absl::MutexLock lock(&mutex_);
    if (running_) return absl::FailedPreconditionError("the sampler runs already");
  }
  if (absl::Status status = ResolveJvm(env); !status.ok()) return status;
  // A sample with only the application's frames does not show which of them was interrupted, so it
  // cannot be corrected later: code is checked when it is compiled instead.
  const bool has_gaps = options_.stack == StackMode::kApp || options_.stack == StackMode::kAppFrame;
  jvm_.CheckAtCompilation(has_gaps);
  corrector_.Use(has_gaps ? nullptr : &jvm_.non_safepoints_check(),
                 options_.stack == StackMode::kFrame);
  PrefaultHugePages(FrameCacheMemory());
  PrefaultHugePages(CfiRowMemory());
  // Drops samples of an earlier recording that were not drained.
  Drain([](const SampleView&) {});
  // Handlers have ended, or nobody reads their samples any more.
  jvm_.non_safepoints_check().Clear();
  times_at_start_ = MeasuredHandlerTimes();
  {
    absl::MutexLock lock(&mutex_);
    losses_at_start_ = SampleLossCounts(counters_);
  }
  unsampled_threads_.Begin(SilenceLimit(), options_.signal);
  absl::Status status = InstallSampleHandler(options_.signal, NewConfig());
  if (!status.ok()) return status;
  {
    absl::MutexLock lock(&mutex_);
    running_ = true;
    handler_replaced_ = false;
    if (timers_->kind() == TimerKind::kWall) {
      wall_clock_ = std::make_unique<WallClock>(options_.interval, options_.signal);
    }
  }
  ring_drainer_.Start([this] {
    if (!EmptyRings() || backlog_->IsFilling()) signal_safe::writer_doorbell.Ring();
  });
  if (timers_->kind() == TimerKind::kWall) {
    ticker_.Start(options_.interval, timers_->has_jitter(),
                  [this](uint32_t ticks) { Tick(ticks); });
  }
  return absl::OkStatus();
}

int Sampler::SignalError() const {
  absl::MutexLock lock(&mutex_);
  return wall_clock_ != nullptr && timers_->kind() == TimerKind::kWall ? wall_clock_->SignalError()
                                                                       : 0;
}

absl::Duration Sampler::SilenceLimit() const {
  const bool counts = timers_->kind() == TimerKind::kPerfEvent && !options_.event->is_clock;
  if (counts) return absl::ZeroDuration();
  return std::max(absl::Seconds(1), 10 * options_.interval);
}

SampleHandlerConfig* Sampler::NewConfig() const {
  auto* const config = new SampleHandlerConfig{};  // handlers may keep using it
  config->active = true;
  config->slots = pool_->slots();
  config->slot_count = pool_->capacity();
  config->slot_by_fd = timers_->slot_by_fd();
  config->fd_count = timers_->fd_count();
  config->vm = jvm_.layout();
  config->read_position = options_.read_position;
  config->stack = options_.stack;
  config->application = app_methods_->published();
  config->wall = timers_->kind() == TimerKind::kWall;
  config->process = getpid();
  const bool counts = timers_->kind() == TimerKind::kPerfEvent && !options_.event->is_clock;
  config->ticks_on_cpu_time = !config->wall && !counts;
  config->signal = options_.signal;
  config->room_to_walk = signal_safe::StackBytesToWalk();
  return config;
}

void Sampler::Tick(uint32_t ticks) {
  // Threads that start or end wait for mutex_ during at most this many checks.
  constexpr uint32_t kAtOnce = 64;
  const uint64_t now_ns = MonotonicNanos();
  const uint32_t used = UsedSlots();
  for (uint32_t begin = 0; begin < used; begin += kAtOnce) {
    absl::MutexLock lock(&mutex_);
    if (!running_ || handler_replaced_) return;
    for (uint32_t i = begin; i < std::min(begin + kAtOnce, used); ++i) {
      ThreadSlot& slot = pool_->slots()[i];
      if (slot.state.load(std::memory_order_acquire) != SlotState::kAttached) continue;
      wall_clock_->AddTicks(slot, i, ticks, now_ns);
    }
  }
}

uint32_t Sampler::UsedSlots() {
  absl::MutexLock lock(&mutex_);
  return pool_->used();
}

IdleTicks Sampler::CollectIdle(uint32_t thread_slot, uint32_t number) {
  ThreadSlot& slot = pool_->slots()[thread_slot];
  const uint64_t time_ns = slot.idle_time_ns.load(std::memory_order_relaxed);
  uint64_t word = slot.idle.load(std::memory_order_acquire);
  while (true) {
    const IdleWord idle = IdleWord::Of(word);
    if (idle.sample != number || idle.ticks == 0) return {};
    if (slot.idle.compare_exchange_weak(word, IdleWord{number, 0}.word(),
                                        std::memory_order_acq_rel)) {
      return {idle.ticks, time_ns};
    }
  }
}

// Disarms all timers if the program has replaced our handler: its handler would get our signals,
// and the default action may end the program.
void Sampler::DisarmIfReplaced() {
  absl::MutexLock lock(&mutex_);
  if (!running_ || handler_replaced_ || IsSampleHandler(options_.signal)) return;
  handler_replaced_ = true;
  ++counters_.handler_replaced;
  for (const auto& [tid, slot] : slot_by_tid_) timers_->Disarm(slot);
}

bool Sampler::EmptyRings() {
  absl::MutexLock emptying(&emptying_);
  const uint32_t used = UsedSlots();
  for (uint32_t i = 0; i < used; ++i) {
    ThreadSlot& slot = pool_->slots()[i];
    // Read first: a thread that is detached by now has put its last sample into the ring.
    const SlotState state = slot.state.load(std::memory_order_acquire);
    if (state == SlotState::kFree) continue;
    if (!backlog_->Add(i, slot.ring)) return false;
    if (state == SlotState::kDetached) {
      absl::MutexLock lock(&mutex_);
      pool_->Free(&slot);
    }
  }
  return true;
}

void Sampler::Drain(absl::FunctionRef<void(const SampleView&)> take) {
  DisarmIfReplaced();
  bool all = false;
  while (!all) {
    all = EmptyRings();
    backlog_->Drain([&](const SampleView& view) {
      if (!view.header.is_unwind) unsampled_threads_.NoteSample(view.thread_slot);
      corrector_.Correct(view, take);
    });
  }
}

absl::Status Sampler::Stop(absl::Duration timeout) {
  {
    absl::MutexLock lock(&mutex_);
    if (!running_) return absl::OkStatus();
    running_ = false;
  }
  ticker_.Stop();
  ring_drainer_.Stop();
  DisarmAll();
  DeactivateSampleHandler();
  const bool idle = WaitForHandlers(timeout);
  DetachAll();
  if (!idle) return absl::DeadlineExceededError("a sampling handler did not end in time");
  absl::MutexLock lock(&mutex_);
  for (uint32_t i = 0; i < pool_->used(); ++i) {
    ThreadTimers::UnmapRing(&pool_->slots()[i]);
    DiscardDueTicks(&pool_->slots()[i]);
  }
  return absl::OkStatus();
}

std::vector<LossRow> Sampler::Losses() const {
  absl::MutexLock lock(&mutex_);
  return SampleLossesSince(losses_at_start_, counters_);
}

void Sampler::SetThreadIdentity(ThreadSlot* slot, uint32_t thread_number, uint64_t java_tid,
                                uintptr_t java_thread) {
  slot->thread_number.store(thread_number, std::memory_order_relaxed);
  slot->java_tid.store(java_tid, std::memory_order_relaxed);
  const jvm::HotSpotInternals::Stack stack = jvm_.StackOf(java_thread);
  slot->java_thread.store(java_thread, std::memory_order_relaxed);
  slot->stack_low.store(stack.low, std::memory_order_relaxed);
  slot->stack_high.store(stack.high, std::memory_order_relaxed);
}

absl::Status Sampler::AttachCurrentThread(JNIEnv* env, uint32_t thread_number, uint64_t java_tid) {
  return AttachThread(gettid(), thread_number, java_tid, jvm_.JavaThreadOf(env));
}

absl::Status Sampler::AttachThread(pid_t tid, uint32_t thread_number, uint64_t java_tid,
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
      SetThreadIdentity(known->second, thread_number, java_tid, java_thread);
    }
    return absl::OkStatus();
  }
  // Another thread attached it before, or the slot is that of an ended thread with the same tid.
  if (known != slot_by_tid_.end()) DetachAndRelease(known->second);
  ThreadSlot* const slot = pool_->Allocate();
  if (slot == nullptr) {
    const bool all_used = pool_->used() == pool_->capacity();
    ++(all_used ? counters_.no_slot : counters_.no_slot_memory);
    return absl::ResourceExhaustedError("no thread slot is free");
  }
  slot->os_tid = tid;
  slot->in_handler = false;
  slot->remembered_frames = 0;
  slot->unread_count = 0;
  DiscardDueTicks(slot);  // ticks of its previous thread
  SetThreadIdentity(slot, thread_number, java_tid, java_thread);
  slot->state.store(SlotState::kAttached, std::memory_order_release);
  if (own) {
    tls_thread_slot = slot;
    tls_os_tid = tid;
  }
  absl::Status status = timers_->Arm(slot);
  if (!status.ok()) {
    ++(HasNoClock(status) ? counters_.thread_ended : counters_.no_timer);
    if (own) tls_thread_slot = nullptr;
    ThreadTimers::UnmapRing(slot);
    pool_->Free(slot);
    return status;
  }
  slot_by_tid_[tid] = slot;
  return absl::OkStatus();
}

bool Sampler::IsAttached(pid_t tid) const {
  absl::MutexLock lock(&mutex_);
  return slot_by_tid_.contains(tid);
}

void Sampler::DiscardDueTicks(ThreadSlot* slot) {
  counters_.lost_ticks += slot->pending_ticks.exchange(0, std::memory_order_acq_rel);
}

void Sampler::DetachLocked(ThreadSlot* slot) {
  if (timers_->kind() == TimerKind::kWall) {
    const auto index = static_cast<uint32_t>(slot - pool_->slots());
    wall_clock_->Finish(*slot, index, MonotonicNanos());
  }
  timers_->Disarm(slot);
  slot_by_tid_.erase(slot->os_tid.load());
  if (slot->os_tid == gettid()) tls_thread_slot = nullptr;
  slot->state.store(SlotState::kDetached, std::memory_order_release);
}

void Sampler::DetachCurrentThread() {
  absl::MutexLock lock(&mutex_);
  const auto known = slot_by_tid_.find(gettid());
  if (known != slot_by_tid_.end()) DetachAndRelease(known->second);
}

void Sampler::DetachIfEnded(pid_t tid) {
  absl::MutexLock lock(&mutex_);
  const auto known = slot_by_tid_.find(tid);
  if (known != slot_by_tid_.end() && HasEnded(tid)) DetachAndRelease(known->second);
}

// Handlers of a slot run on its own thread, which is the calling one or has ended.
void Sampler::DetachAndRelease(ThreadSlot* slot) {
  DetachLocked(slot);
  ThreadTimers::UnmapRing(slot);
}

void Sampler::SweepEndedThreads() {
  jvm_.PublishStubs();
  absl::MutexLock lock(&mutex_);
  std::vector<ThreadSlot*> ended;
  for (const auto& [tid, slot] : slot_by_tid_) {
    if (HasEnded(tid)) ended.push_back(slot);
  }
  for (ThreadSlot* const slot : ended) DetachAndRelease(slot);
  for (uint32_t i = 0; i < pool_->used(); ++i) unsampled_threads_.Check(i, pool_->slots()[i]);
}

// The slots stay attached, because a handler may be about to finish its record.
void Sampler::DisarmAll() {
  absl::MutexLock lock(&mutex_);
  for (const auto& [tid, slot] : slot_by_tid_) timers_->Disarm(slot);
}

void Sampler::DetachAll() {
  absl::MutexLock lock(&mutex_);
  std::vector<ThreadSlot*> attached;
  for (const auto& [tid, slot] : slot_by_tid_) attached.push_back(slot);
  for (ThreadSlot* const slot : attached) DetachLocked(slot);
}

std::vector<pid_t> ListThreads() {
  std::vector<pid_t> threads;
  DIR* const directory = opendir("/proc/self/task");
  if (directory == nullptr) return threads;
  while (const dirent* const entry = readdir(directory)) {
    const int tid = std::atoi(entry->d_name);
    if (tid > 0) threads.push_back(tid);
  }
  closedir(directory);
  return threads;
}

}  // namespace jtrace::samples
