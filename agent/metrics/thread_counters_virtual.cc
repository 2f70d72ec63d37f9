// Virtual threads: their counters move with them from carrier to carrier.
#include "agent/metrics/block_reading.h"
#include "agent/metrics/thread_counters.h"

namespace jtrace::metrics {

using hot::CounterBlock;

void ThreadCounters::Suspend(CounterBlock& block) {
  if (block.java_thread == 0) return;
  WriteCum(block, kAllocBytes, ReadAllocated(layout_, block));
  InProgramOrder();
  block.java_thread = 0;
}

void ThreadCounters::Resume(CounterBlock& block, uint64_t java_thread) {
  if (layout_.allocated_bytes == 0 || java_thread == 0) return;
  block.alloc_offset = ReadCum(block, kAllocBytes) - hot::ReadAllocated(layout_, java_thread);
  InProgramOrder();
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
  InProgramOrder();
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
  Retire(block, /*is_own=*/false, std::nullopt);
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

}  // namespace jtrace::metrics
