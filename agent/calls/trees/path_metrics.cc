#include "agent/calls/trees/path_metrics.h"

#include <algorithm>
#include <atomic>

namespace jtrace::calls {
namespace {

using signal_safe::MetricCounts;
using signal_safe::ReadRelaxed;

const MetricCounts* CountsOfThread(const signal_safe::ThreadState& state) {
  return reinterpret_cast<const MetricCounts*>(ReadRelaxed(state.counters));
}

signal_safe::ThreadMetrics& ChargedOf(const signal_safe::ThreadState& state) {
  return *reinterpret_cast<signal_safe::ThreadMetrics*>(ReadRelaxed(state.metrics));
}

// For a virtual thread without a carrier, or an ended thread, alloc.bytes is in its block.
int64_t Allocated(const PathMetrics& metrics, const MetricCounts& block) {
  const uint64_t java_thread = ReadRelaxed(block.java_thread);
  if (java_thread == 0 || metrics.layout.allocated_bytes == 0) return ReadRelaxed(block.counts[0]);
  return signal_safe::ReadAllocated(metrics.layout, java_thread) + ReadRelaxed(block.alloc_offset);
}

}  // namespace

size_t PathMetrics::first_elapsed() const {
  const auto first = std::lower_bound(numbers.begin(), numbers.end(), signal_safe::kElapsed);
  return static_cast<size_t>(first - numbers.begin());
}

size_t PathMetrics::IndexOf(uint32_t number) const {
  const auto found = std::find(numbers.begin(), numbers.end(), number);
  return static_cast<size_t>(found - numbers.begin());
}

MetricValues Counted(const PathMetrics& metrics, const MetricCounts& block) {
  MetricValues values = {};
  const size_t own = metrics.first_elapsed();
  for (size_t i = own; metrics.elapsed != nullptr && i < metrics.numbers.size(); ++i) {
    values[i] = ReadRelaxed(metrics.elapsed[i]);
  }
  for (size_t i = 0; i < own; ++i) {
    const uint8_t number = metrics.numbers[i];
    values[i] = static_cast<uint64_t>(number == 0 ? Allocated(metrics, block)
                                                  : ReadRelaxed(block.counts[number]));
  }
  return values;
}

uint64_t PathMetrics::Packed() const {
  uint64_t packed = 0;
  for (size_t i = 0; i < numbers.size(); ++i) packed |= (uint64_t{numbers[i]} + 1) << (8 * i);
  return packed;
}

MetricValues SinceCharged(const PathMetrics& metrics, const signal_safe::ThreadState& state) {
  const MetricCounts* block = CountsOfThread(state);
  if (block == nullptr || ReadRelaxed(state.metrics) == 0) return {};
  MetricValues values = Counted(metrics, *block);
  for (size_t i = 0; i < values.size(); ++i) values[i] -= ReadRelaxed(ChargedOf(state).charged[i]);
  // An elapsed metric gets this thread's own count only when that is charged: add it here.
  for (size_t i = metrics.first_elapsed(); i < metrics.numbers.size(); ++i) {
    values[i] += values[metrics.IndexOf(metrics.numbers[i] - signal_safe::kElapsed)];
  }
  return values;
}

void ChargeRemainder(const PathMetrics& metrics, signal_safe::ThreadState& state,
                     uint64_t metrics_offset) {
  const MetricValues rest = SinceCharged(metrics, state);
  const uint64_t node = ReadRelaxed(state.current);
  if (node == 0 || CountsOfThread(state) == nullptr) return;
  for (size_t i = metrics.first_elapsed(); i < metrics.numbers.size(); ++i) {
    const size_t own = metrics.IndexOf(metrics.numbers[i] - signal_safe::kElapsed);
    std::atomic_ref(metrics.elapsed[i]).fetch_add(rest[own], std::memory_order_relaxed);
  }
  auto& base = reinterpret_cast<signal_safe::NodeMetrics*>(node + metrics_offset)->base;
  for (size_t i = 0; i < metrics.numbers.size(); ++i) {
    signal_safe::WriteRelaxed(base[i], base[i] + rest[i]);
    uint64_t& charged = ChargedOf(state).charged[i];
    signal_safe::WriteRelaxed(charged, charged + rest[i]);
  }
}

}  // namespace jtrace::calls
