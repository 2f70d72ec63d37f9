#include "agent/metrics/thread_counters.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "agent/base/clock.h"
#include "agent/metrics/counter_numbers.h"
#include "agent/metrics/kernel_readings.h"
#include "agent/signal_safe/agent_work_scope.h"

namespace jtrace::metrics {

using signal_safe::MetricCounts;

namespace {

// A released block is reused only after this many others, so that a probe that still runs while its
// thread is removed does not write to another thread's block.
constexpr size_t kRestingBlocks = 1024;
constexpr size_t kBlocksAtOnce = 1024;

// What the kernel had counted for this kernel thread when its last Java thread ended, such as main
// before DestroyJavaVM. Start stores it in `counts` of the next block, and readings subtract it.
constexpr std::array kInherited = {Metric::kCpu, Metric::kSwitches, Metric::kPageFaults,
                                   Metric::kReadBytes, Metric::kWrittenBytes};
constexpr size_t kInheritedIo = 3;  // the first that needs a file
[[gnu::tls_model("initial-exec")]] constinit thread_local std::array<int64_t, kInherited.size()>
    tls_inherited = {};

}  // namespace

ThreadCounters::ThreadCounters(const signal_safe::AllocLayout& layout, jvm::ThreadTable& threads)
    : layout_(layout), threads_(threads), own_(layout_, users_) {
  pthread_key_create(&at_thread_end_, signal_safe::kRunAsAgent<&EndOfNativeThread>);
}

// ---- Threads start and end --------------------------------------------------------------------

MetricCounts* ThreadCounters::NewBlock() {
  if (free_.size() <= kRestingBlocks) {
    constexpr size_t kBytes = kBlocksAtOnce * sizeof(MetricCounts);
    void* memory =
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED && free_.empty()) return nullptr;
    auto* blocks = static_cast<MetricCounts*>(memory);
    for (size_t i = 0; memory != MAP_FAILED && i < kBlocksAtOnce; ++i) {
      free_.push_front(&blocks[i]);
    }
  }
  MetricCounts* block = free_.front();
  free_.pop_front();
  *block = {};
  block->start_ns = MonotonicNanos();
  return block;
}

void ThreadCounters::AddLive(MetricCounts& block) {
  block.index = live_.size();
  live_.push_back(&block);
}

MetricCounts* ThreadCounters::Find(uint64_t java_tid) const {
  jvm::ThreadTable::Access threads(threads_);
  const jvm::ThreadEntry* const thread = threads.OfJava(java_tid);
  return thread != nullptr ? thread->counters : nullptr;
}

MetricCounts* ThreadCounters::FindOnOsThread(pid_t os_tid) const {
  jvm::ThreadTable::Access threads(threads_);
  const jvm::ThreadEntry* const java = threads.JavaOn(os_tid);
  if (java != nullptr && java->counters != nullptr) return java->counters;
  const jvm::ThreadEntry* const native = threads.NativeOn(os_tid);
  return native != nullptr ? native->counters : nullptr;
}

MetricCounts* ThreadCounters::Start(uint64_t java_tid, uint64_t java_thread, bool is_partial) {
  const std::lock_guard lock(mutex_);
  const pid_t os_tid = gettid();
  // A native thread that is already counted may become a Java thread.
  MetricCounts* known = FindOnOsThread(os_tid);
  if (known == nullptr) known = Find(java_tid);
  MetricCounts* const block = known != nullptr ? known : NewBlock();
  if (block == nullptr) return nullptr;
  SetIdentity(*block, {.java_tid = java_tid, .os_tid = os_tid, .java_thread = java_thread});
  if (known == nullptr) {
    block->is_partial = is_partial ? 1 : 0;
    block->counts[kCpuAtStart] = ReadOwn(Metric::kCpu).value_or(0);
    for (size_t i = 0; i < kInherited.size(); ++i) {
      block->counts[static_cast<size_t>(kInherited[i])] = tls_inherited[i];
    }
    AddLive(*block);
  }
  CompilerBarrier();
  tls_metric_counts = tls_platform_metric_counts = block;
  return block;
}

void ThreadCounters::SetIdentity(MetricCounts& block, const jvm::ThreadIdentity& identity) {
  jvm::ThreadTable::Access threads(threads_);
  for (jvm::ThreadEntry* const before :
       {threads.JavaOn(identity.os_tid), threads.NativeOn(identity.os_tid)}) {
    if (before != nullptr && before->counters == &block) before->counters = nullptr;
  }
  threads.EndNative(identity.os_tid);
  threads.Start(identity).counters = &block;
  block.java_tid = identity.java_tid;
  block.java_thread = block.platform_thread = identity.java_thread;
  block.os_tid = identity.os_tid;
}

void ThreadCounters::Adopt(uint64_t java_tid, pid_t os_tid, uint64_t java_thread) {
  const std::lock_guard lock(mutex_);
  MetricCounts* block;
  {
    jvm::ThreadTable::Access threads(threads_);
    // Its JavaThread may be freed at any moment, or may already be.
    if (threads.MayBeGone(java_tid, os_tid)) return;
    jvm::ThreadEntry* const thread =
        threads.Adopt({.java_tid = java_tid, .os_tid = os_tid, .java_thread = java_thread});
    if (thread == nullptr || thread->counters != nullptr) return;
    block = thread->counters = NewBlock();
  }
  if (block == nullptr) return;
  block->java_tid = java_tid;
  block->java_thread = block->platform_thread = java_thread;
  block->os_tid = os_tid;
  block->is_partial = 1;
  block->counts[kCpuAtStart] = ReadThread(Metric::kCpu, os_tid).value_or(0);
  AddLive(*block);
}

MetricCounts* ThreadCounters::Current() {
  if (tls_metric_counts != nullptr) return tls_metric_counts;
  const std::lock_guard lock(mutex_);
  const pid_t os_tid = gettid();
  if (MetricCounts* const known = FindOnOsThread(os_tid); known != nullptr) {
    return tls_metric_counts = tls_platform_metric_counts = known;
  }
  MetricCounts* block = NewBlock();
  if (block == nullptr) return nullptr;
  block->os_tid = os_tid;
  block->is_partial = 1;
  block->counts[kCpuAtStart] = ReadOwn(Metric::kCpu).value_or(0);
  AddLive(*block);
  jvm::ThreadTable::Access(threads_).Native(os_tid).counters = block;
  // Java threads report their end in another way, and earlier.
  pthread_setspecific(at_thread_end_, this);
  CompilerBarrier();
  return tls_metric_counts = tls_platform_metric_counts = block;
}

std::optional<ThreadCounters::Identity> ThreadCounters::RegisterThread() {
  const MetricCounts* const block = Current();
  if (block == nullptr) return std::nullopt;
  return Identity{.java_tid = block->java_tid, .os_tid = block->os_tid};
}

void ThreadCounters::EndOfNativeThread(void* self) { static_cast<ThreadCounters*>(self)->End(); }

void ThreadCounters::End() {
  const std::optional<IoBytes> io =
      reads_io_at_end_.load(std::memory_order_relaxed) ? ReadCurrentThreadIo() : std::nullopt;
  const std::lock_guard lock(mutex_);
  MetricCounts* block = tls_platform_metric_counts;
  if (block == nullptr) block = FindOnOsThread(gettid());
  if (block == nullptr || block->java_tid != 0) jvm::ThreadTable::Access(threads_).End(gettid());
  if (block == nullptr) return;
  // First: a handler that counts from here on gets an error, since its counts would be in no total.
  tls_metric_counts = tls_platform_metric_counts = nullptr;
  CompilerBarrier();
  Retire(*block, /*is_own=*/true, io);
  for (size_t i = 0; i < kInheritedIo; ++i) tls_inherited[i] = ReadOwn(kInherited[i]).value_or(0);
  if (io.has_value()) {
    tls_inherited[kInheritedIo] = io->read;
    tls_inherited[kInheritedIo + 1] = io->written;
  }
}

void ThreadCounters::Retire(MetricCounts& block, bool is_own, const std::optional<IoBytes>& io) {
  Values last = ReadAll(block, ~kFileMetrics, is_own);
  if (io.has_value()) {
    const auto used = [&](Metric metric, int64_t now) {
      const auto i = static_cast<uint32_t>(metric);
      last[i] = std::max<int64_t>(0, now - ReadCount(block, i));
    };
    used(Metric::kReadBytes, io->read);
    used(Metric::kWrittenBytes, io->written);
  }
  for (uint32_t i = 0; i < signal_safe::kMaxMetrics; ++i) {
    ended_total_[i] = WrapAdd(ended_total_[i], last[i]);
  }
  if (block.java_tid != 0) {
    Remember(block.java_tid,
             {.values = last, .is_virtual = block.os_tid == 0, .has_files = io.has_value()});
  }
  {
    jvm::ThreadTable::Access threads(threads_);
    jvm::ThreadEntry* const thread =
        block.java_tid != 0 ? threads.OfJava(block.java_tid) : threads.NativeOn(block.os_tid);
    if (thread != nullptr && thread->counters == &block) thread->counters = nullptr;
    if (block.java_tid == 0) threads.EndNative(block.os_tid);
  }
  live_[block.index] = live_.back();
  live_[block.index]->index = block.index;
  live_.pop_back();
  free_.push_back(&block);
}

void ThreadCounters::Remember(uint64_t java_tid, const EndedThread& last) {
  ended_[java_tid] = last;
  ended_order_.push_back(java_tid);
  ++ended_count_;
  if (ended_order_.size() <= kEndedThreads) return;
  ended_.erase(ended_order_.front());
  ended_order_.pop_front();
}

// ---- Events ---------------------------------------------------------------------------------

void ThreadCounters::Add(uint32_t metric, int64_t delta) {
  MetricCounts* const block = Current();
  if (block != nullptr) {
    signal_safe::Count(*block, metric, delta);
  } else {
    AddToProcess(metric, delta);
  }
}

void ThreadCounters::AddToProcess(uint32_t metric, int64_t delta) {
  process_total_[metric].fetch_add(delta, std::memory_order_relaxed);
}

namespace {

bool IsUnreported(const MetricCounts& block, uint32_t metric) {
  return block.os_tid == 0 && CurrentThreadTotals::IsPerKernelThread(metric);
}

}  // namespace

int64_t ThreadCounters::Read(const MetricCounts& block, uint32_t metric, bool is_own) const {
  return ReadBlock(layout_, block, metric, [&](Metric it) {
    return (is_own ? ReadOwn(it) : ReadThread(it, block.os_tid)).value_or(0);
  });
}

Values ThreadCounters::ReadAll(const MetricCounts& block, uint64_t metrics, bool is_own) const {
  Values values = {};
  for (uint32_t i = 0; i < signal_safe::kMaxMetrics; ++i) {
    const bool is_metric = i < AllMetrics().size() || IsUser(i);
    if (is_metric && (metrics >> i & 1) != 0) values[i] = Read(block, i, is_own);
  }
  return values;
}

absl::Status ThreadCounters::StatusOf(Availability availability, uint32_t metric) const {
  const std::string name = NameOf(metric);
  switch (availability) {
    case Availability::kNoMetric:
      return absl::NotFoundError(absl::StrCat("no metric has the number ", metric));
    case Availability::kNotCounted:
      return absl::FailedPreconditionError(
          absl::StrCat(name, " is not counted: start with metrics=", name));
    case Availability::kUnsupported:
      return absl::UnavailableError(metric == kAllocBytes
                                        ? "this JVM does not report what its threads allocate"
                                        : absl::StrCat(name, " is not counted in this version"));
    case Availability::kProcessOnly:
      return absl::FailedPreconditionError(
          absl::StrCat(name, " is known only for the process: ask for the process's total"));
    case Availability::kTreesOnly:
      return absl::FailedPreconditionError(
          absl::StrCat(name, " are known only for methods and call paths: ask for a method's"));
    case Availability::kVirtualThread:
      return absl::UnavailableError(
          absl::StrCat(name, " is unknown for virtual threads: ask for the process's total"));
    default:
      return absl::OkStatus();
  }
}

absl::Status ThreadCounters::Check(uint32_t metric) const {
  return StatusOf(own_.AvailabilityOf(metric), metric);
}

absl::StatusOr<int64_t> ThreadCounters::Own(uint32_t metric) {
  const Availability availability = own_.AvailabilityForThreads(metric);
  if (availability != Availability::kYes) return StatusOf(availability, metric);
  const MetricCounts* const block = Current();
  if (block == nullptr) return absl::ResourceExhaustedError("no memory for a thread's counters");
  if (IsUnreported(*block, metric)) return StatusOf(Availability::kVirtualThread, metric);
  return Read(*block, metric, /*is_own=*/true);
}

absl::StatusOr<int64_t> ThreadCounters::OfEnded(const EndedThread& last, uint32_t metric) const {
  if (last.is_virtual && CurrentThreadTotals::IsPerKernelThread(metric)) {
    return StatusOf(Availability::kVirtualThread, metric);
  }
  if ((kFileMetrics >> metric & 1) == 0 || last.has_files) return last.values[metric];
  return absl::UnavailableError(
      absl::StrCat(NameOf(metric),
                   " is unknown for threads that have ended: record it with metrics=, "
                   "ask before, or for the process's total"));
}

absl::StatusOr<int64_t> ThreadCounters::Of(uint64_t java_tid, uint32_t metric) const {
  const Availability availability = own_.AvailabilityForThreads(metric);
  if (availability != Availability::kYes) return StatusOf(availability, metric);
  const std::lock_guard lock(mutex_);
  if (const MetricCounts* const live = Find(java_tid); live != nullptr) {
    if (IsUnreported(*live, metric)) return StatusOf(Availability::kVirtualThread, metric);
    return Read(*live, metric, live == tls_metric_counts);
  }
  const auto ended = ended_.find(java_tid);
  if (ended != ended_.end()) return OfEnded(ended->second, metric);
  return absl::NotFoundError(absl::StrCat("thread ", java_tid, " has not started, or ended before ",
                                          kEndedThreads, " others"));
}

absl::StatusOr<int64_t> ThreadCounters::OfOsThread(pid_t os_tid, uint32_t metric) const {
  const Availability availability = own_.AvailabilityForThreads(metric);
  if (availability != Availability::kYes) return StatusOf(availability, metric);
  const std::lock_guard lock(mutex_);
  const MetricCounts* const live = FindOnOsThread(os_tid);
  if (live == nullptr) {
    return absl::NotFoundError(absl::StrCat("no thread ", os_tid, " is counted, or it has ended"));
  }
  return Read(*live, metric, live == tls_metric_counts);
}

std::optional<uint64_t> ThreadCounters::JavaTidOf(pid_t os_tid) const {
  const std::lock_guard lock(mutex_);
  const MetricCounts* const live = FindOnOsThread(os_tid);
  if (live == nullptr || live->java_tid == 0) return std::nullopt;
  return live->java_tid;
}

absl::StatusOr<int64_t> ThreadCounters::Process(uint32_t metric) const {
  const Availability availability = own_.AvailabilityForProcess(metric);
  if (availability != Availability::kYes) return StatusOf(availability, metric);
  if (IsUser(metric) && users_.IsByProcessor(metric)) {
    return users_.by_processor().Total(metric - kFirstUser);
  }
  if (!IsUser(metric)) {
    if (const auto total = ReadProcess(static_cast<Metric>(metric))) return *total;
  }
  const std::lock_guard lock(mutex_);
  int64_t sum =
      WrapAdd(ended_total_[metric], process_total_[metric].load(std::memory_order_relaxed));
  for (const MetricCounts* block : live_) {
    sum = WrapAdd(sum, Read(*block, metric, block == tls_metric_counts));
  }
  return sum;
}

bool ThreadCounters::WithLive(uint64_t java_tid,
                              absl::FunctionRef<void(const MetricCounts&)> visit) const {
  const std::lock_guard lock(mutex_);
  const MetricCounts* const live = Find(java_tid);
  if (live == nullptr) return false;
  visit(*live);
  return true;
}

std::vector<ThreadValues> ThreadCounters::Live(uint64_t metrics) const {
  const std::lock_guard lock(mutex_);
  std::vector<ThreadValues> all;
  all.reserve(live_.size());
  for (const MetricCounts* block : live_) {
    all.push_back({.java_tid = block->java_tid,
                   .os_tid = block->os_tid,
                   .is_partial = block->is_partial != 0,
                   .values = ReadAll(*block, metrics, block == tls_metric_counts)});
  }
  return all;
}

std::vector<ThreadValues> ThreadCounters::EndedSince(uint64_t& cursor) const {
  const std::lock_guard lock(mutex_);
  std::vector<ThreadValues> ended;
  const uint64_t first = ended_count_ - ended_order_.size();
  for (uint64_t i = std::max(first, cursor); i < ended_count_; ++i) {
    const uint64_t java_tid = ended_order_[i - first];
    ended.push_back(
        {.java_tid = java_tid, .has_ended = true, .values = ended_.at(java_tid).values});
  }
  cursor = ended_count_;
  return ended;
}

ThreadCounters::Ended ThreadCounters::AllEnded() const {
  const std::lock_guard lock(mutex_);
  return {.java_threads = ended_count_, .values = ended_total_};
}

std::string ThreadCounters::NameOf(uint32_t metric) const {
  if (metric < AllMetrics().size()) return std::string(AllMetrics()[metric].name);
  return IsUser(metric) ? users_.NameOf(metric) : "";
}

void ThreadCounters::Suspend(MetricCounts& block) {
  if (block.java_thread == 0) return;
  WriteCount(block, kAllocBytes, ReadAllocated(layout_, block));
  CompilerBarrier();
  block.java_thread = 0;
}

void ThreadCounters::Resume(MetricCounts& block, uint64_t java_thread) {
  if (layout_.allocated_bytes == 0 || java_thread == 0) return;
  block.alloc_offset =
      ReadCount(block, kAllocBytes) - signal_safe::ReadAllocated(layout_, java_thread);
  CompilerBarrier();
  block.java_thread = java_thread;
}

MetricCounts* ThreadCounters::OfVirtual(uint64_t java_tid) {
  jvm::ThreadTable::Access threads(threads_);
  jvm::ThreadEntry& thread = threads.Virtual(java_tid);
  if (thread.counters != nullptr) return thread.counters;
  MetricCounts* const block = NewBlock();
  if (block == nullptr) return nullptr;
  thread.counters = block;
  block->java_tid = java_tid;
  AddLive(*block);
  return block;
}

void ThreadCounters::Mount(uint64_t java_tid) {
  MetricCounts* const carrier =
      tls_platform_metric_counts != nullptr ? tls_platform_metric_counts : Current();
  if (carrier == nullptr) return;
  const std::lock_guard lock(mutex_);
  MetricCounts* const block = OfVirtual(java_tid);
  if (block == nullptr) return;
  Suspend(*carrier);
  Resume(*block, carrier->platform_thread);
  CompilerBarrier();
  tls_metric_counts = block;
}

void ThreadCounters::Unmount() {
  if (tls_platform_metric_counts == nullptr || tls_metric_counts == tls_platform_metric_counts)
    return;
  const std::lock_guard lock(mutex_);
  Suspend(*tls_metric_counts);
  Resume(*tls_platform_metric_counts, tls_platform_metric_counts->platform_thread);
  tls_metric_counts = tls_platform_metric_counts;
}

void ThreadCounters::EndVirtual(uint64_t java_tid) {
  const std::lock_guard lock(mutex_);
  MetricCounts* const block = Find(java_tid);
  if (block == nullptr) return;
  if (tls_metric_counts == block) {
    Suspend(*block);
    Resume(*tls_platform_metric_counts, tls_platform_metric_counts->platform_thread);
    tls_metric_counts = tls_platform_metric_counts;
  }
  Retire(*block, /*is_own=*/false, std::nullopt);
}

MetricCounts* ThreadCounters::CountsOfThread(uint64_t java_tid, bool is_virtual,
                                             uint64_t java_thread) {
  if (tls_metric_counts != nullptr && tls_metric_counts->java_tid == java_tid)
    return tls_metric_counts;
  if (is_virtual) {
    Mount(java_tid);
    const bool is_mounted = tls_metric_counts != nullptr && tls_metric_counts->java_tid == java_tid;
    return is_mounted ? tls_metric_counts : nullptr;  // no memory: never the carrier's
  }
  {
    const std::lock_guard lock(mutex_);
    if (MetricCounts* const known = Find(java_tid); known != nullptr) {
      return tls_metric_counts = tls_platform_metric_counts = known;
    }
  }
  return Start(java_tid, java_thread, /*is_partial=*/true);
}

}  // namespace jtrace::metrics
