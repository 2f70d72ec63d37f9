#include "agent/metrics/thread_counters.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "agent/base/clock.h"
#include "agent/hot/own_work.h"
#include "agent/metrics/block_reading.h"
#include "agent/metrics/kernel_readings.h"
#include "agent/metrics/wrap_add.h"

namespace jtrace::metrics {
namespace {

using hot::CounterBlock;

// A released block is reused only after this many others: a probe that still runs while its thread
// is removed finds the block unused.
constexpr size_t kRestingBlocks = 1024;
constexpr size_t kBlocksAtOnce = 1024;

// The values of the kernel's thread before it became this Java thread, such as main before
// DestroyJavaVM: their places in a block have them, as kCpuAtStart has its clock.
constexpr std::array kInherited = {Metric::kCpu, Metric::kSwitches, Metric::kPageFaults,
                                   Metric::kReadBytes, Metric::kWrittenBytes};
constexpr size_t kInheritedIo = 3;  // the first that needs a file
[[gnu::tls_model("initial-exec")]] constinit thread_local std::array<int64_t, kInherited.size()>
    tls_used = {};

}  // namespace

ThreadCounters::ThreadCounters(const hot::AllocLayout& layout)
    : layout_(layout), own_(layout_, users_) {
  pthread_key_create(&at_thread_end_, hot::kAsOwn<&EndOfNativeThread>);
}

// ---- Threads start and end --------------------------------------------------------------------

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
  block->start_ns = MonotonicNanos();
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
  // A native thread that is already counted may become a Java thread.
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
  InProgramOrder();
  tls_block = tls_platform = block;
  return block;
}

void ThreadCounters::Adopt(uint64_t java_tid, pid_t os_tid, uint64_t java_thread) {
  const std::lock_guard lock(mutex_);
  if (by_java_tid_.contains(java_tid)) return;
  // Its JavaThread may be freed at any moment, or is already.
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
  // Java threads report their end in another way, and earlier.
  pthread_setspecific(at_thread_end_, this);
  InProgramOrder();
  return tls_block = tls_platform = block;
}

std::optional<ThreadCounters::Identity> ThreadCounters::RegisterThread() {
  const CounterBlock* const block = Current();
  if (block == nullptr) return std::nullopt;
  return Identity{.java_tid = block->java_tid, .os_tid = block->os_tid};
}

void ThreadCounters::EndOfNativeThread(void* self) { static_cast<ThreadCounters*>(self)->End(); }

void ThreadCounters::End() {
  const std::optional<IoBytes> io =
      keeps_files_.load(std::memory_order_relaxed) ? ReadOwnIo() : std::nullopt;
  const std::lock_guard lock(mutex_);
  CounterBlock* block = tls_platform;
  if (block == nullptr) {
    const auto known = by_os_tid_.find(gettid());
    if (known == by_os_tid_.end()) {
      ended_unmet_.insert(gettid());
      return;
    }
    block = known->second;
  }
  // A handler's counts from here on would be in no total: it gets an error.
  tls_block = tls_platform = nullptr;
  InProgramOrder();
  Retire(*block, /*is_own=*/true, io);
  for (size_t i = 0; i < kInheritedIo; ++i) tls_used[i] = ReadOwn(kInherited[i]).value_or(0);
  if (io.has_value()) {
    tls_used[kInheritedIo] = io->read;
    tls_used[kInheritedIo + 1] = io->written;
  }
}

void ThreadCounters::Retire(CounterBlock& block, bool is_own, const std::optional<IoBytes>& io) {
  Values last = ReadAll(block, ~kOfFiles, is_own);
  if (io.has_value()) {
    const auto used = [&](Metric metric, int64_t now) {
      const auto i = static_cast<uint32_t>(metric);
      last[i] = std::max<int64_t>(0, now - ReadCum(block, i));
    };
    used(Metric::kReadBytes, io->read);
    used(Metric::kWrittenBytes, io->written);
  }
  for (uint32_t i = 0; i < hot::kMaxMetrics; ++i) {
    ended_total_[i] = WrapAdd(ended_total_[i], last[i]);
  }
  if (block.java_tid != 0) {
    Remember(block.java_tid,
             {.values = last, .is_virtual = block.os_tid == 0, .has_files = io.has_value()});
  }
  by_java_tid_.erase(block.java_tid);
  by_os_tid_.erase(block.os_tid);
  live_[block.index] = live_.back();
  live_[block.index]->index = block.index;
  live_.pop_back();
  free_.push_back(&block);
}

void ThreadCounters::Remember(uint64_t java_tid, const Last& last) {
  ended_[java_tid] = last;
  ended_order_.push_back(java_tid);
  ++ended_count_;
  if (ended_order_.size() <= kEndedThreads) return;
  ended_.erase(ended_order_.front());
  ended_order_.pop_front();
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

}  // namespace jtrace::metrics
