// Queries for the counts of threads and of the process.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "agent/metrics/block_reading.h"
#include "agent/metrics/kernel_readings.h"
#include "agent/metrics/thread_counters.h"
#include "agent/metrics/wrap_add.h"

namespace jtrace::metrics {

using hot::CounterBlock;

namespace {

bool IsUnreported(const CounterBlock& block, uint32_t metric) {
  return block.os_tid == 0 && OwnTotals::IsOfKernelsThread(metric);
}

}  // namespace

int64_t ThreadCounters::Read(const CounterBlock& block, uint32_t metric, bool is_own) const {
  return ReadBlock(layout_, block, metric, [&](Metric it) {
    return (is_own ? ReadOwn(it) : ReadThread(it, block.os_tid)).value_or(0);
  });
}

Values ThreadCounters::ReadAll(const CounterBlock& block, uint64_t metrics, bool is_own) const {
  Values values = {};
  for (uint32_t i = 0; i < hot::kMaxMetrics; ++i) {
    const bool is_metric = i < AllMetrics().size() || IsUser(i);
    if (is_metric && (metrics >> i & 1) != 0) values[i] = Read(block, i, is_own);
  }
  return values;
}

absl::Status ThreadCounters::StatusOf(Answer answer, uint32_t metric) const {
  const std::string name = NameOf(metric);
  switch (answer) {
    case Answer::kNoMetric:
      return absl::NotFoundError(absl::StrCat("no metric has the number ", metric));
    case Answer::kNotCounted:
      return absl::FailedPreconditionError(
          absl::StrCat(name, " is not counted: start with metrics=", name));
    case Answer::kUnsupported:
      return absl::UnavailableError(metric == kAllocBytes
                                        ? "this JVM does not report what its threads allocate"
                                        : absl::StrCat(name, " is not counted in this version"));
    case Answer::kProcessOnly:
      return absl::FailedPreconditionError(
          absl::StrCat(name, " is known only for the process: ask for the process's total"));
    case Answer::kTreesOnly:
      return absl::FailedPreconditionError(
          absl::StrCat(name, " are known only for methods and call paths: ask for a method's"));
    case Answer::kVirtualThread:
      return absl::UnavailableError(
          absl::StrCat(name, " is unknown for virtual threads: ask for the process's total"));
    default:
      return absl::OkStatus();
  }
}

absl::Status ThreadCounters::Check(uint32_t metric) const {
  return StatusOf(own_.Check(metric), metric);
}

absl::StatusOr<int64_t> ThreadCounters::Own(uint32_t metric) {
  const Answer answer = own_.CheckOfThread(metric);
  if (answer != Answer::kYes) return StatusOf(answer, metric);
  const CounterBlock* const block = Current();
  if (block == nullptr) return absl::ResourceExhaustedError("no memory for a thread's counters");
  if (IsUnreported(*block, metric)) return StatusOf(Answer::kVirtualThread, metric);
  return Read(*block, metric, /*is_own=*/true);
}

absl::StatusOr<int64_t> ThreadCounters::OfEnded(const Last& last, uint32_t metric) const {
  if (last.is_virtual && OwnTotals::IsOfKernelsThread(metric)) {
    return StatusOf(Answer::kVirtualThread, metric);
  }
  if ((kOfFiles >> metric & 1) == 0 || last.has_files) return last.values[metric];
  return absl::UnavailableError(
      absl::StrCat(NameOf(metric),
                   " is unknown for threads that have ended: record it with metrics=, "
                   "ask before, or for the process's total"));
}

absl::StatusOr<int64_t> ThreadCounters::Of(uint64_t java_tid, uint32_t metric) const {
  const Answer answer = own_.CheckOfThread(metric);
  if (answer != Answer::kYes) return StatusOf(answer, metric);
  const std::lock_guard lock(mutex_);
  const auto live = by_java_tid_.find(java_tid);
  if (live != by_java_tid_.end()) {
    if (IsUnreported(*live->second, metric)) return StatusOf(Answer::kVirtualThread, metric);
    return Read(*live->second, metric, live->second == tls_block);
  }
  const auto ended = ended_.find(java_tid);
  if (ended != ended_.end()) return OfEnded(ended->second, metric);
  return absl::NotFoundError(absl::StrCat("thread ", java_tid, " has not started, or ended before ",
                                          kEndedThreads, " others"));
}

absl::StatusOr<int64_t> ThreadCounters::OfOsThread(pid_t os_tid, uint32_t metric) const {
  const Answer answer = own_.CheckOfThread(metric);
  if (answer != Answer::kYes) return StatusOf(answer, metric);
  const std::lock_guard lock(mutex_);
  const auto live = by_os_tid_.find(os_tid);
  if (live == by_os_tid_.end()) {
    return absl::NotFoundError(absl::StrCat("no thread ", os_tid, " is counted, or it has ended"));
  }
  return Read(*live->second, metric, live->second == tls_block);
}

std::optional<uint64_t> ThreadCounters::JavaTidOf(pid_t os_tid) const {
  const std::lock_guard lock(mutex_);
  const auto live = by_os_tid_.find(os_tid);
  if (live == by_os_tid_.end() || live->second->java_tid == 0) return std::nullopt;
  return live->second->java_tid;
}

absl::StatusOr<int64_t> ThreadCounters::Process(uint32_t metric) const {
  const Answer answer = own_.CheckOfProcess(metric);
  if (answer != Answer::kYes) return StatusOf(answer, metric);
  if (IsUser(metric) && users_.IsByProcessor(metric)) {
    return users_.by_processor().Total(metric - kFirstUser);
  }
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

}  // namespace jtrace::metrics
