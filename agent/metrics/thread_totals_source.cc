#include "agent/metrics/thread_totals_source.h"

#include "agent/metrics/kernel_readings.h"

namespace jtrace::metrics {
namespace {

bool IsOfProcess(uint32_t metric) {
  return metric < metrics::kFirstUser &&
         metrics::InfoOf(static_cast<metrics::Metric>(metric)).reach == metrics::Reach::kProcess;
}

bool IsLevel(uint32_t metric) {
  return metric < metrics::kFirstUser && metrics::IsLevel(static_cast<metrics::Metric>(metric));
}

// Returns whether the kernel counts the metric, for each of its threads and for the process.
bool IsOfKernel(uint32_t metric) {
  return metric < metrics::kFirstUser &&
         metrics::InfoOf(static_cast<metrics::Metric>(metric)).origin ==
             metrics::MetricOrigin::kKernel;
}

}  // namespace

ThreadTotalsSource::ThreadTotalsSource(metrics::JvmMetrics& metrics, std::vector<uint32_t> numbers,
                                       bool live, jvm::ThreadTreeGroups& groups,
                                       trace::RecordEncoder& encoder)
    : metrics_(metrics), numbers_(std::move(numbers)), groups_(groups), encoder_(encoder) {
  for (const uint32_t number : numbers_) mask_ |= 1ull << number;
  metrics_.counters().ReadIoAtThreadEnd((mask_ & metrics::kFileMetrics) != 0);
  if (live) {
    AddRestOfProcess();  // first: so the process has counted no less than its threads since
    ReadAll();
    of_threads_ = {};
  }
  // Skips the threads that have ended: their counts belong to no recording.
  metrics_.counters().EndedSince(ended_cursor_);
  counts_ = true;
}

ThreadTotalsSource::~ThreadTotalsSource() { metrics_.counters().ReadIoAtThreadEnd(false); }

void ThreadTotalsSource::AddChanges(uint64_t, proto::Chunk& chunk) {
  if (numbers_.empty()) return;
  ReadAll();
  for (const auto& [key, total] : totals_) {
    const auto [reported, is_new] = reported_.try_emplace(key, 0);
    if (!is_new && reported->second == total) continue;
    reported->second = total;
    proto::TreeDelta* tree = chunk.add_tree();
    tree->set_thread(key.first);
    proto::NodeMetric* metric = tree->add_metric();
    metric->set_name(encoder_.String(metrics_.counters().NameOf(key.second)));
    metric->add_node(0);
    metric->add_value(total);
  }
}

void ThreadTotalsSource::BeginFile() {
  totals_.clear();
  reported_.clear();
}

void ThreadTotalsSource::ReadAll() {
  for (const metrics::ThreadValues& thread : metrics_.counters().EndedSince(ended_cursor_)) {
    AddThread(thread);
    last_.erase(thread.java_tid);
  }
  for (const metrics::ThreadValues& thread : metrics_.counters().Live(mask_)) AddThread(thread);
  AddProcess();
  if (counts_) AddRestOfProcess();
}

void ThreadTotalsSource::AddThread(const metrics::ThreadValues& thread) {
  if (thread.java_tid == 0) return;  // a native thread's events belong to the process
  metrics::Values& last = last_[thread.java_tid];
  for (const uint32_t metric : numbers_) {
    const int64_t delta = thread.values[metric] - last[metric];
    // Values that only files report may be unknown, and then 0, for ended threads.
    if (IsOfProcess(metric) || delta == 0 || (thread.has_ended && delta < 0)) continue;
    last[metric] = thread.values[metric];
    of_threads_[metric] += delta;
    if (counts_) Add(groups_.NumberOfThread(thread.java_tid), metric, delta);
  }
}

void ThreadTotalsSource::AddProcess() {
  for (const uint32_t metric : numbers_) {
    if (!IsOfProcess(metric)) continue;
    const int64_t total = metrics_.counters().Process(metric).value_or(last_process_[metric]);
    const int64_t delta = total - last_process_[metric];
    last_process_[metric] = total;
    if (!counts_ || (delta == 0 && !IsLevel(metric))) continue;
    const uint32_t process = groups_.NumberOfGroup(groups_.Process());
    Add(process, metric, IsLevel(metric) ? total - totals_[{process, metric}] : delta);
  }
}

void ThreadTotalsSource::AddRestOfProcess() {
  for (const uint32_t metric : numbers_) {
    if (!IsOfKernel(metric) || IsOfProcess(metric)) continue;
    const auto now = metrics::ReadProcess(static_cast<metrics::Metric>(metric));
    if (!now.has_value()) continue;
    const int64_t others = *now - last_process_[metric] - std::exchange(of_threads_[metric], 0);
    last_process_[metric] = *now;
    if (!counts_ || others == 0) continue;
    Add(groups_.NumberOfGroup(groups_.Process()), metric, others);
  }
}

void ThreadTotalsSource::Add(uint32_t thread, uint32_t metric, int64_t delta) {
  totals_[{thread, metric}] += delta;
}

}  // namespace jtrace::metrics
