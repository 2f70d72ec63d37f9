#include "agent/metrics/thread_counters.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/hot/clock.h"
#include "agent/metrics/kernel_readings.h"

namespace jtrace::metrics {
namespace {

using hot::CounterBlock;

// A block that was given up is used again only after so many others: what is still underway to it,
// a probe that runs while its thread is taken down, finds it unused.
constexpr size_t kRestingBlocks = 1024;
constexpr size_t kBlocksAtOnce = 1024;

// Of the calling thread, or the virtual thread on it; and of the calling thread in any case.
[[gnu::tls_model("initial-exec")]] constinit thread_local CounterBlock* tls_block = nullptr;
[[gnu::tls_model("initial-exec")]] constinit thread_local CounterBlock* tls_platform = nullptr;

constexpr auto kAllocBytes = static_cast<uint32_t>(Metric::kAllocBytes);
// Nobody counts this one: its place has the kernel's clock of the thread when counting began.
constexpr auto kCpuAtStart = static_cast<uint32_t>(Metric::kOffCpu);
// The same of these: what the kernel's thread had used before it became this thread of Java, as
// main before DestroyJavaVM.
constexpr std::array kInherited = {Metric::kCpu, Metric::kSwitches, Metric::kPageFaults};
[[gnu::tls_model("initial-exec")]] constinit thread_local std::array<int64_t, 3> tls_used = {};

int64_t ReadCum(const CounterBlock& block, uint32_t metric) {
  return std::atomic_ref<int64_t>(const_cast<int64_t&>(block.cum[metric]))
      .load(std::memory_order_relaxed);
}

void WriteCum(CounterBlock& block, uint32_t metric, int64_t value) {
  std::atomic_ref<int64_t>(block.cum[metric]).store(value, std::memory_order_relaxed);
}

constexpr bool IsUser(uint32_t metric) { return metric >= kFirstUser; }

Source SourceOf(uint32_t metric) {
  return IsUser(metric) ? Source::kCounted : InfoOf(static_cast<Metric>(metric)).source;
}

constexpr int64_t WrapAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

}  // namespace

ThreadCounters::ThreadCounters(const hot::AllocLayout& layout) : layout_(layout) {
  pthread_key_create(&at_thread_end_, &EndOfNativeThread);
}

// ---- Threads come and go --------------------------------------------------------------------

CounterBlock* ThreadCounters::NewBlock() {
  if (free_.size() <= kRestingBlocks) {
    constexpr size_t kBytes = kBlocksAtOnce * sizeof(CounterBlock);
    void* memory =
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED && free_.empty()) return nullptr;
    auto* blocks = static_cast<CounterBlock*>(memory);
    for (size_t i = 0; memory != MAP_FAILED && i < kBlocksAtOnce; ++i) {
      free_.push_front(&blocks[i]);
    }
  }
  CounterBlock* block = free_.front();
  free_.pop_front();
  *block = {};
  block->start_ns = hot::MonotonicNanos();
  return block;
}

void ThreadCounters::Register(CounterBlock& block) {
  block.index = live_.size();
  live_.push_back(&block);
  if (block.java_tid != 0) by_java_tid_[block.java_tid] = &block;
  if (block.os_tid != 0) by_os_tid_[block.os_tid] = &block;
}

CounterBlock* ThreadCounters::Start(uint64_t java_tid, uint64_t java_thread, bool is_partial) {
  const std::lock_guard lock(mutex_);
  const pid_t os_tid = gettid();
  ended_unmet_.erase(os_tid);
  const auto known = by_os_tid_.find(os_tid);
  // A native thread that was counted already may become a Java thread.
  CounterBlock* block = known != by_os_tid_.end() ? known->second : NewBlock();
  if (block == nullptr) return nullptr;
  const bool is_new = known == by_os_tid_.end();
  block->java_tid = java_tid;
  block->java_thread = block->platform_thread = java_thread;
  block->os_tid = os_tid;
  if (is_new) {
    block->is_partial = is_partial ? 1 : 0;
    block->cum[kCpuAtStart] = ReadOwn(Metric::kCpu).value_or(0);
    for (size_t i = 0; i < kInherited.size(); ++i) {
      block->cum[static_cast<size_t>(kInherited[i])] = tls_used[i];
    }
    Register(*block);
  } else {
    by_java_tid_[java_tid] = block;
  }
  tls_block = tls_platform = block;
  return block;
}

void ThreadCounters::Adopt(uint64_t java_tid, pid_t os_tid, uint64_t java_thread) {
  const std::lock_guard lock(mutex_);
  if (by_java_tid_.contains(java_tid)) return;
  // Its JavaThread may be freed at any moment, or is.
  if (ended_.contains(java_tid) || ended_unmet_.contains(os_tid)) return;
  CounterBlock* block = NewBlock();
  if (block == nullptr) return;
  block->java_tid = java_tid;
  block->java_thread = block->platform_thread = java_thread;
  block->os_tid = os_tid;
  block->is_partial = 1;
  block->cum[kCpuAtStart] = ReadThread(Metric::kCpu, os_tid).value_or(0);
  Register(*block);
}

CounterBlock* ThreadCounters::Current() {
  if (tls_block != nullptr) return tls_block;
  const std::lock_guard lock(mutex_);
  const pid_t os_tid = gettid();
  if (const auto known = by_os_tid_.find(os_tid); known != by_os_tid_.end()) {
    return tls_block = tls_platform = known->second;
  }
  CounterBlock* block = NewBlock();
  if (block == nullptr) return nullptr;
  block->os_tid = os_tid;
  block->is_partial = 1;
  block->cum[kCpuAtStart] = ReadOwn(Metric::kCpu).value_or(0);
  Register(*block);
  // Java threads report their end otherwise, and before that.
  pthread_setspecific(at_thread_end_, this);
  return tls_block = tls_platform = block;
}

void ThreadCounters::EndOfNativeThread(void* self) { static_cast<ThreadCounters*>(self)->End(); }

void ThreadCounters::End() {
  if (tls_platform == nullptr) {
    const std::lock_guard lock(mutex_);
    const auto known = by_os_tid_.find(gettid());
    if (known == by_os_tid_.end()) {
      ended_unmet_.insert(gettid());
      return;
    }
    tls_platform = known->second;
  }
  const std::lock_guard lock(mutex_);
  Retire(*tls_platform, /*is_own=*/true);
  for (size_t i = 0; i < kInherited.size(); ++i) {
    tls_used[i] = ReadOwn(kInherited[i]).value_or(0);
  }
  tls_block = tls_platform = nullptr;
}

void ThreadCounters::Retire(CounterBlock& block, bool is_own) {
  // But for what takes a file to read.
  constexpr uint64_t kFiles = 1ull << static_cast<unsigned>(Metric::kReadBytes) |
                              1ull << static_cast<unsigned>(Metric::kWrittenBytes);
  const Values last = ReadAll(block, ~kFiles, is_own);
  for (uint32_t i = 0; i < hot::kMaxMetrics; ++i) {
    ended_total_[i] = WrapAdd(ended_total_[i], last[i]);
  }
  if (block.java_tid != 0) Remember(block.java_tid, last);
  by_java_tid_.erase(block.java_tid);
  by_os_tid_.erase(block.os_tid);
  live_[block.index] = live_.back();
  live_[block.index]->index = block.index;
  live_.pop_back();
  free_.push_back(&block);
}

void ThreadCounters::Remember(uint64_t java_tid, const Values& last) {
  ended_[java_tid] = last;
  ended_order_.push_back(java_tid);
  ++ended_count_;
  if (ended_order_.size() <= kEndedThreads) return;
  ended_.erase(ended_order_.front());
  ended_order_.pop_front();
}

// ---- Virtual threads ------------------------------------------------------------------------

void ThreadCounters::Suspend(CounterBlock& block) {
  if (block.java_thread == 0) return;
  WriteCum(block, kAllocBytes, Allocated(block, /*is_own=*/true));
  block.java_thread = 0;
}

void ThreadCounters::Resume(CounterBlock& block, uint64_t java_thread) {
  if (layout_.allocated_bytes == 0 || java_thread == 0) return;
  block.alloc_offset = ReadCum(block, kAllocBytes) - hot::ReadAllocated(layout_, java_thread);
  block.java_thread = java_thread;
}

void ThreadCounters::Mount(uint64_t java_tid) {
  CounterBlock* const carrier = tls_platform != nullptr ? tls_platform : Current();
  if (carrier == nullptr) return;
  const std::lock_guard lock(mutex_);
  const auto known = by_java_tid_.find(java_tid);
  CounterBlock* block = known != by_java_tid_.end() ? known->second : NewBlock();
  if (block == nullptr) return;
  if (known == by_java_tid_.end()) {
    block->java_tid = java_tid;
    Register(*block);
  }
  Suspend(*carrier);
  Resume(*block, carrier->platform_thread);
  tls_block = block;
}

void ThreadCounters::Unmount() {
  if (tls_platform == nullptr || tls_block == tls_platform) return;
  const std::lock_guard lock(mutex_);
  Suspend(*tls_block);
  Resume(*tls_platform, tls_platform->platform_thread);
  tls_block = tls_platform;
}

void ThreadCounters::EndVirtual(uint64_t java_tid) {
  const std::lock_guard lock(mutex_);
  const auto found = by_java_tid_.find(java_tid);
  if (found == by_java_tid_.end()) return;
  CounterBlock& block = *found->second;
  if (tls_block == &block) {
    Suspend(block);
    Resume(*tls_platform, tls_platform->platform_thread);
    tls_block = tls_platform;
  }
  Retire(block, /*is_own=*/false);
}

CounterBlock* ThreadCounters::BlockOf(uint64_t java_tid, bool is_virtual, uint64_t java_thread) {
  if (tls_block != nullptr && tls_block->java_tid == java_tid) return tls_block;
  if (is_virtual) {
    Mount(java_tid);
    return tls_block;
  }
  {
    const std::lock_guard lock(mutex_);
    const auto found = by_java_tid_.find(java_tid);
    if (found != by_java_tid_.end()) return tls_block = tls_platform = found->second;
  }
  return Start(java_tid, java_thread, /*is_partial=*/true);
}

// ---- Events ---------------------------------------------------------------------------------

void ThreadCounters::Add(uint32_t metric, int64_t delta) {
  CounterBlock* const block = Current();
  if (block != nullptr) {
    hot::Count(*block, metric, delta);
  } else {
    AddToProcess(metric, delta);
  }
}

void ThreadCounters::AddToProcess(uint32_t metric, int64_t delta) {
  const std::lock_guard lock(mutex_);
  process_total_[metric] = WrapAdd(process_total_[metric], delta);
}

// ---- Questions ------------------------------------------------------------------------------

int64_t ThreadCounters::Allocated(const CounterBlock& block, bool is_own) const {
  if (block.java_thread == 0 || layout_.allocated_bytes == 0) return ReadCum(block, kAllocBytes);
  int64_t value = hot::ReadAllocated(layout_, block.java_thread);
  // The three words of a thread that runs change one after the other.
  constexpr int kTries = 100;
  for (int i = 0; !is_own && i < kTries; ++i) {
    const int64_t again = hot::ReadAllocated(layout_, block.java_thread);
    if (again == value) break;
    value = again;
  }
  return value + block.alloc_offset;
}

int64_t ThreadCounters::Read(const CounterBlock& block, uint32_t metric, bool is_own) const {
  if (IsUser(metric)) return ReadCum(block, metric);
  const auto known = static_cast<Metric>(metric);
  const auto wall = [&] { return static_cast<int64_t>(hot::MonotonicNanos() - block.start_ns); };
  const auto kernel = [&](Metric it) {
    if (block.os_tid == 0) return int64_t{0};  // a virtual thread has none of its own
    const int64_t read = (is_own ? ReadOwn(it) : ReadThread(it, block.os_tid)).value_or(0);
    return std::max<int64_t>(0, read - ReadCum(block, static_cast<uint32_t>(it)));
  };
  if (known == Metric::kAllocBytes) return Allocated(block, is_own);
  if (known == Metric::kWall) return wall();
  if (known == Metric::kOffCpu) {
    const auto cpu = static_cast<uint32_t>(Metric::kCpu);
    const int64_t used = kernel(Metric::kCpu) + ReadCum(block, cpu) - ReadCum(block, kCpuAtStart);
    return std::max<int64_t>(0, wall() - used);
  }
  return SourceOf(metric) == Source::kKernel ? kernel(known) : ReadCum(block, metric);
}

Values ThreadCounters::ReadAll(const CounterBlock& block, uint64_t metrics, bool is_own) const {
  Values values = {};
  for (uint32_t i = 0; i < hot::kMaxMetrics; ++i) {
    const bool is_metric = i < AllMetrics().size() || IsUser(i);
    if (is_metric && (metrics >> i & 1) != 0) values[i] = Read(block, i, is_own);
  }
  return values;
}

absl::Status ThreadCounters::Check(uint32_t metric) const {
  if (NameOf(metric).empty()) {
    return absl::NotFoundError(absl::StrCat("no metric has the number ", metric));
  }
  if (IsUser(metric)) return absl::OkStatus();
  const MetricInfo& info = InfoOf(static_cast<Metric>(metric));
  const bool counted = (counted_.load(std::memory_order_relaxed) >> metric & 1) != 0;
  if (info.source == Source::kNone) {
    return absl::UnavailableError(absl::StrCat(info.name, " is not counted in this version"));
  }
  if (info.source == Source::kCounted && !counted) {
    return absl::FailedPreconditionError(
        absl::StrCat("nobody counts ", info.name, ": start with metrics=", info.name));
  }
  if (info.metric == Metric::kAllocBytes && layout_.allocated_bytes == 0) {
    return absl::UnavailableError("this JVM does not tell what its threads allocate");
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> ThreadCounters::Own(uint32_t metric) {
  if (absl::Status status = Check(metric); !status.ok()) return status;
  const CounterBlock* const block = Current();
  if (block == nullptr) return absl::ResourceExhaustedError("no memory for a thread's counters");
  return Read(*block, metric, /*is_own=*/true);
}

absl::StatusOr<int64_t> ThreadCounters::Of(uint64_t java_tid, uint32_t metric) const {
  if (absl::Status status = Check(metric); !status.ok()) return status;
  const std::lock_guard lock(mutex_);
  const auto live = by_java_tid_.find(java_tid);
  if (live != by_java_tid_.end()) return Read(*live->second, metric, live->second == tls_block);
  const auto ended = ended_.find(java_tid);
  if (ended != ended_.end()) return ended->second[metric];
  return absl::NotFoundError(absl::StrCat("thread ", java_tid, " has not started, or ended before ",
                                          kEndedThreads, " others"));
}

absl::StatusOr<int64_t> ThreadCounters::Process(uint32_t metric) const {
  if (absl::Status status = Check(metric); !status.ok()) return status;
  if (!IsUser(metric)) {
    if (const auto total = ReadProcess(static_cast<Metric>(metric))) return *total;
  }
  const std::lock_guard lock(mutex_);
  int64_t sum = WrapAdd(ended_total_[metric], process_total_[metric]);
  for (const CounterBlock* block : live_) {
    sum = WrapAdd(sum, Read(*block, metric, block == tls_block));
  }
  return sum;
}

bool ThreadCounters::WithLive(uint64_t java_tid,
                              absl::FunctionRef<void(const CounterBlock&)> visit) const {
  const std::lock_guard lock(mutex_);
  const auto found = by_java_tid_.find(java_tid);
  if (found == by_java_tid_.end()) return false;
  visit(*found->second);
  return true;
}

std::vector<ThreadValues> ThreadCounters::Live(uint64_t metrics) const {
  const std::lock_guard lock(mutex_);
  std::vector<ThreadValues> all;
  all.reserve(live_.size());
  for (const CounterBlock* block : live_) {
    all.push_back({.java_tid = block->java_tid,
                   .os_tid = block->os_tid,
                   .is_partial = block->is_partial != 0,
                   .values = ReadAll(*block, metrics, block == tls_block)});
  }
  return all;
}

std::vector<ThreadValues> ThreadCounters::EndedSince(uint64_t& cursor) const {
  const std::lock_guard lock(mutex_);
  std::vector<ThreadValues> ended;
  const uint64_t first = ended_count_ - ended_order_.size();
  for (uint64_t i = std::max(first, cursor); i < ended_count_; ++i) {
    const uint64_t java_tid = ended_order_[i - first];
    ended.push_back({.java_tid = java_tid, .has_ended = true, .values = ended_.at(java_tid)});
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

}  // namespace jtrace::metrics
