#include "agent/sampling/sampler.h"

#include <dirent.h>
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "agent/hot/clock.h"
#include "agent/hot/sample_handler.h"
#include "agent/sampling/jvm_view.h"
#include "agent/sampling/signals.h"
#include "agent/sampling/slot_pool.h"
#include "agent/sampling/thread_timers.h"
#include "agent/sampling/wall_clock.h"

namespace jtrace::sampling {

using hot::SlotState;
using hot::ThreadSlot;

class Sampler::Impl {
 public:
  static absl::StatusOr<std::unique_ptr<Impl>> Create(const SamplerOptions& options,
                                                      const void* libjvm_address);

  absl::Status Reconfigure(const SamplerOptions& options);
  JvmView& jvm() { return jvm_; }
  absl::Status Start(JNIEnv* env);
  absl::Status Attach(pid_t tid, uint32_t thread_number, uint64_t java_tid, uintptr_t java_thread);
  void Detach(pid_t tid);
  void SweepEndedThreads();
  void Drain(absl::FunctionRef<void(const hot::SampleView&)> take);
  absl::Status Stop(std::chrono::milliseconds patience);
  TimerKind timer_in_use() const { return timers_->kind(); }
  bool has_kernel_frames() const { return timers_->has_kernel_frames(); }
  bool kernel_frames_allowed() const { return timers_->kernel_frames_allowed(); }
  pid_t ticker_tid() const { return ticker_.os_tid(); }
  hot::IdleTicks TakeIdle(uint32_t thread_slot, uint32_t number);
  AppMethods& app_methods() { return app_methods_; }
  KernelSymbols& kernel_symbols() { return kernel_symbols_; }
  std::vector<SampleLoss> Losses() const;
  HandlerCost Cost() const { return CostSince(times_at_start_); }

 private:
  explicit Impl(const SamplerOptions& options) : options_(options) {}
  void Identify(ThreadSlot* slot, uint32_t thread_number, uint64_t java_tid, uintptr_t java_thread);
  void DetachLocked(ThreadSlot* slot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  static absl::Status Check(const SamplerOptions& options);
  static TimerChoice ChoiceOf(const SamplerOptions& options);
  hot::SamplerState* NewState() const;
  // On the ticker's thread.
  void Tick(uint32_t ticks);
  uint32_t UsedSlots();
  void DetachAll();
  std::vector<SampleLoss> Totals() const;

  SamplerOptions options_;
  std::vector<SampleLoss> totals_at_start_;
  HandlerTimes times_at_start_;
  JvmView jvm_;
  AppMethods app_methods_;
  KernelSymbols kernel_symbols_;

  mutable absl::Mutex mutex_;
  bool running_ ABSL_GUARDED_BY(mutex_) = false;
  std::unique_ptr<SlotPool> pool_;        // content guarded by mutex_
  std::unique_ptr<ThreadTimers> timers_;  // content guarded by mutex_
  absl::flat_hash_map<pid_t, ThreadSlot*> slot_by_tid_ ABSL_GUARDED_BY(mutex_);
  uint64_t attach_failures_ ABSL_GUARDED_BY(mutex_) = 0;
  std::unique_ptr<WallClock> wall_clock_;  // content guarded by mutex_
  Ticker ticker_;
};

absl::Status Sampler::Impl::Check(const SamplerOptions& options) {
  if (options.interval < std::chrono::microseconds(10)) {
    return absl::InvalidArgumentError("the interval must be at least 10 us");
  }
  if (options.timer == TimerKind::kWall && options.interval < std::chrono::milliseconds(1)) {
    return absl::InvalidArgumentError("the interval of timer=wall must be at least 1 ms");
  }
  if (options.signal >= SIGRTMIN && options.signal <= SIGRTMAX) {
    return absl::InvalidArgumentError("a real-time signal cannot be used: its queue can overflow");
  }
  const uint64_t largest =
      sizeof(hot::SampleHeader) + (options.max_frames + 1ull) * sizeof(hot::Frame);
  if (options.max_frames < 2 || !std::has_single_bit(options.ring_bytes) ||
      options.ring_bytes < 2 * largest) {
    return absl::InvalidArgumentError("the ring must be a power of two and hold two full chains");
  }
  return absl::OkStatus();
}

TimerChoice Sampler::Impl::ChoiceOf(const SamplerOptions& options) {
  return {options.timer, options.interval, options.event, options.period, options.signal};
}

absl::StatusOr<std::unique_ptr<Sampler::Impl>> Sampler::Impl::Create(const SamplerOptions& options,
                                                                     const void* libjvm_address) {
  if (absl::Status status = Check(options); !status.ok()) return status;
  std::unique_ptr<Impl> impl(new Impl(options));
  auto timers = ThreadTimers::Create(ChoiceOf(options));
  if (!timers.ok()) return timers.status();
  impl->timers_ = *std::move(timers);
  auto pool = SlotPool::Create(
      {options.max_threads, options.ring_bytes, options.max_frames, options.check_memory});
  if (!pool.ok()) return pool.status();
  impl->pool_ = *std::move(pool);
  impl->jvm_.Read(libjvm_address);
  return impl;
}

absl::Status Sampler::Impl::Reconfigure(const SamplerOptions& options) {
  {
    absl::MutexLock lock(&mutex_);
    if (running_) return absl::FailedPreconditionError("the sampler runs");
  }
  if (absl::Status status = Check(options); !status.ok()) return status;
  const bool same_timers = options.interval == options_.interval &&
                           options.timer == options_.timer && options.signal == options_.signal &&
                           options.event == options_.event && options.period == options_.period;
  if (!same_timers) {
    auto timers = ThreadTimers::Create(ChoiceOf(options));
    if (!timers.ok()) return timers.status();
    timers_ = *std::move(timers);
  }
  options_.interval = options.interval;
  options_.timer = options.timer;
  options_.signal = options.signal;
  options_.event = options.event;
  options_.period = options.period;
  options_.stack = options.stack;
  options_.read_position = options.read_position;
  return absl::OkStatus();
}

absl::Status Sampler::Impl::Start(JNIEnv* env) {
  {
    absl::MutexLock lock(&mutex_);
    if (running_) return absl::FailedPreconditionError("the sampler runs already");
  }
  jvm_.Resolve(env);
  hot::safe_fetch.store(jvm_.safe_fetch(), std::memory_order_relaxed);
  if (jvm_.safe_fetch() == nullptr) {
    const absl::Status status = InstallFaultHandler();
    if (!status.ok()) return status;
  }
  totals_at_start_ = Totals();
  times_at_start_ = MeasuredHandlerTimes();
  const absl::Status status = InstallSampleHandler(options_.signal, NewState());
  if (!status.ok()) return status;
  {
    absl::MutexLock lock(&mutex_);
    running_ = true;
    if (timers_->kind() == TimerKind::kWall) {
      wall_clock_ = std::make_unique<WallClock>(options_.interval, options_.signal);
    }
  }
  if (timers_->kind() == TimerKind::kWall) {
    ticker_.Start(options_.interval, [this](uint32_t ticks) { Tick(ticks); });
  }
  return absl::OkStatus();
}

hot::SamplerState* Sampler::Impl::NewState() const {
  auto* const state = new hot::SamplerState{};  // handlers may hold it for good
  state->active = true;
  state->slots = pool_->slots();
  state->slot_count = pool_->capacity();
  state->slot_by_fd = timers_->slot_by_fd();
  state->fd_count = timers_->fd_count();
  state->vm = jvm_.layout();
  state->read_position = options_.read_position;
  state->stack = options_.stack;
  state->application = app_methods_.published();
  state->wall = timers_->kind() == TimerKind::kWall;
  state->process = getpid();
  const bool counts = timers_->kind() == TimerKind::kEvent && !options_.event->is_clock;
  state->ticks_on_cpu_time = !state->wall && !counts;
  return state;
}

void Sampler::Impl::Tick(uint32_t ticks) {
  // Threads that start and end wait for no more than this many looks.
  constexpr uint32_t kAtOnce = 64;
  const uint64_t now_ns = hot::MonotonicNanos();
  const uint32_t used = UsedSlots();
  for (uint32_t begin = 0; begin < used; begin += kAtOnce) {
    absl::MutexLock lock(&mutex_);
    if (!running_) return;
    for (uint32_t i = begin; i < std::min(begin + kAtOnce, used); ++i) {
      ThreadSlot& slot = pool_->slots()[i];
      if (slot.state.load(std::memory_order_acquire) != SlotState::kAttached) continue;
      wall_clock_->Look(slot, i, ticks, now_ns);
    }
  }
}

uint32_t Sampler::Impl::UsedSlots() {
  absl::MutexLock lock(&mutex_);
  return pool_->used();
}

hot::IdleTicks Sampler::Impl::TakeIdle(uint32_t thread_slot, uint32_t number) {
  ThreadSlot& slot = pool_->slots()[thread_slot];
  const uint64_t time_ns = slot.idle_time_ns.load(std::memory_order_relaxed);
  uint64_t word = slot.idle.load(std::memory_order_acquire);
  while (true) {
    const hot::WallIdle idle = hot::WallIdle::Of(word);
    if (idle.sample != number || idle.ticks == 0) return {};
    if (slot.idle.compare_exchange_weak(word, hot::WallIdle{number, 0}.word(),
                                        std::memory_order_acq_rel)) {
      return {idle.ticks, time_ns};
    }
  }
}

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
  const bool own = tid == gettid();
  const auto known = slot_by_tid_.find(tid);
  if (known != slot_by_tid_.end() && !own) {
    // Its handler may be running: the slot cannot be taken from it.
    Identify(known->second, thread_number, java_tid, java_thread);
    return absl::OkStatus();
  }
  // Attached by others before, or left behind by an ended thread of the same tid.
  if (known != slot_by_tid_.end()) {
    ThreadSlot* const before = known->second;
    DetachLocked(before);
    ThreadTimers::Release(before);
  }
  ThreadSlot* const slot = pool_->Take();
  if (slot == nullptr) {
    ++attach_failures_;
    return absl::ResourceExhaustedError("no thread slot is free");
  }
  slot->os_tid = tid;
  slot->in_handler = false;
  slot->remembered_frames = 0;
  slot->due_ticks.store(0, std::memory_order_relaxed);
  Identify(slot, thread_number, java_tid, java_thread);
  slot->state.store(SlotState::kAttached, std::memory_order_release);
  if (own) {
    hot::tls_thread_slot = slot;
    hot::tls_os_tid = tid;
  }
  const absl::Status status = timers_->Arm(slot);
  if (!status.ok()) {
    ++attach_failures_;
    if (own) hot::tls_thread_slot = nullptr;
    ThreadTimers::Release(slot);
    pool_->Give(slot);
    return status;
  }
  slot_by_tid_[tid] = slot;
  return absl::OkStatus();
}

void Sampler::Impl::DetachLocked(ThreadSlot* slot) {
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
}

void Sampler::Impl::Drain(absl::FunctionRef<void(const hot::SampleView&)> take) {
  const uint32_t used = UsedSlots();
  for (uint32_t i = 0; i < used; ++i) {
    ThreadSlot& slot = pool_->slots()[i];
    // Read before draining: what a detached thread's ring has then is all it will ever have.
    const SlotState state = slot.state.load(std::memory_order_acquire);
    if (state == SlotState::kFree) continue;
    uint32_t bytes;
    while (const std::byte* record = slot.ring.Front(&bytes)) {
      take({*reinterpret_cast<const hot::SampleHeader*>(record), i,
            reinterpret_cast<const hot::Frame*>(record + sizeof(hot::SampleHeader))});
      slot.ring.Pop();
    }
    if (state == SlotState::kDetached) {
      absl::MutexLock lock(&mutex_);
      pool_->Give(&slot);
    }
  }
}

void Sampler::Impl::DetachAll() {
  absl::MutexLock lock(&mutex_);
  std::vector<ThreadSlot*> attached;
  for (const auto& [tid, slot] : slot_by_tid_) attached.push_back(slot);
  for (ThreadSlot* const slot : attached) DetachLocked(slot);
}

absl::Status Sampler::Impl::Stop(std::chrono::milliseconds patience) {
  {
    absl::MutexLock lock(&mutex_);
    if (!running_) return absl::OkStatus();
    running_ = false;
  }
  ticker_.Stop();
  DetachAll();
  DeactivateSampleHandler();
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!hot::handlers_in_flight.Idle()) {
    if (std::chrono::steady_clock::now() > deadline) {
      return absl::DeadlineExceededError("a sampling handler did not end in time");
    }
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  absl::MutexLock lock(&mutex_);
  for (uint32_t i = 0; i < pool_->used(); ++i) ThreadTimers::Release(&pool_->slots()[i]);
  return absl::OkStatus();
}

// The handler's counters are those of the process.
std::vector<SampleLoss> Sampler::Impl::Losses() const {
  std::vector<SampleLoss> losses = Totals();
  for (size_t i = 0; i < losses.size() && i < totals_at_start_.size(); ++i) {
    losses[i].count -= totals_at_start_[i].count;
  }
  std::erase_if(losses, [](const SampleLoss& loss) { return loss.count == 0; });
  return losses;
}

std::vector<SampleLoss> Sampler::Impl::Totals() const {
  std::vector<SampleLoss> losses = HandlerLosses();
  absl::MutexLock lock(&mutex_);
  losses.push_back({"sample.thread_not_attached", attach_failures_});
  losses.push_back({"sample.timer_fallback", timers_->fallbacks()});
  losses.push_back({"sample.no_kernel_memory", timers_->without_kernel_frames()});
  return losses;
}

Sampler::Sampler(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Sampler::~Sampler() {
  // A handler that still runs may read the layout and the stub tables.
  if (!Stop().ok()) (void)impl_.release();
}

absl::StatusOr<std::unique_ptr<Sampler>> Sampler::Create(const SamplerOptions& options,
                                                         const void* libjvm_address) {
  auto impl = Impl::Create(options, libjvm_address);
  if (!impl.ok()) return impl.status();
  return std::unique_ptr<Sampler>(new Sampler(*std::move(impl)));
}

absl::Status Sampler::Reconfigure(const SamplerOptions& options) {
  return impl_->Reconfigure(options);
}

void Sampler::AddDynamicCode(std::string_view name, const void* address, uint32_t length) {
  const auto begin = reinterpret_cast<uintptr_t>(address);
  impl_->jvm().stubs().Add(name, begin, begin + length);
}

std::optional<IntrinsicMethod> Sampler::IntrinsicMethodAt(uint64_t method) const {
  return impl_->jvm().intrinsics().Find(method);
}

std::string Sampler::StubName(uint64_t address) const { return impl_->jvm().stubs().Name(address); }

absl::Status Sampler::Start(JNIEnv* env) { return impl_->Start(env); }

const std::string& Sampler::JavaLayoutProblem() const { return impl_->jvm().problem(); }

absl::Status Sampler::AttachCurrentThread(JNIEnv* env, uint32_t thread_number, uint64_t java_tid) {
  return impl_->Attach(gettid(), thread_number, java_tid, impl_->jvm().JavaThreadOf(env));
}

absl::Status Sampler::AttachThread(pid_t tid, uint32_t thread_number, uint64_t java_tid,
                                   uintptr_t java_thread) {
  return impl_->Attach(tid, thread_number, java_tid, java_thread);
}

pid_t Sampler::OsThreadId(uintptr_t java_thread) const {
  return impl_->jvm().OsThreadId(java_thread);
}

uintptr_t Sampler::MethodBehind(jmethodID id) const { return impl_->jvm().MethodBehind(id); }

void Sampler::DetachCurrentThread() { impl_->Detach(gettid()); }

void Sampler::SweepEndedThreads() { impl_->SweepEndedThreads(); }

void Sampler::Drain(absl::FunctionRef<void(const hot::SampleView&)> take) { impl_->Drain(take); }

absl::Status Sampler::Stop(std::chrono::milliseconds patience) { return impl_->Stop(patience); }

TimerKind Sampler::timer_in_use() const { return impl_->timer_in_use(); }

std::vector<SampleLoss> Sampler::Losses() const { return impl_->Losses(); }

HandlerCost Sampler::Cost() const { return impl_->Cost(); }

hot::IdleTicks Sampler::TakeIdle(uint32_t thread_slot, uint32_t number) {
  return impl_->TakeIdle(thread_slot, number);
}

AppMethods& Sampler::app_methods() { return impl_->app_methods(); }

KernelSymbols& Sampler::kernel_symbols() { return impl_->kernel_symbols(); }

bool Sampler::has_kernel_frames() const { return impl_->has_kernel_frames(); }

bool Sampler::kernel_frames_allowed() const { return impl_->kernel_frames_allowed(); }

pid_t Sampler::ticker_tid() const { return impl_->ticker_tid(); }

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

}  // namespace jtrace::sampling
