#include "postproc/reader/chunk_plan.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "postproc/reader/log_run_finder.h"

namespace jtrace::postproc {

void ChunkPlan::CollectLogs(const std::vector<std::string_view>& logs) {
  logs_.clear();
  log_threads_.clear();
  for (const std::string_view bytes : logs) {
    LogCursor cursor(bytes);
    auto [entry, inserted] = logs_.try_emplace(cursor.thread());
    if (inserted) log_threads_.push_back(cursor.thread());
    entry->second.cursors.push_back(std::move(cursor));
  }
}

void ChunkPlan::CollectEvents(const proto::Chunk& chunk) {
  absl::flat_hash_map<uint32_t, int64_t> latest;  // by thread
  for (int i = 0; i < chunk.event_size(); ++i) {
    const proto::Event& event = chunk.event(i);
    int64_t& time = latest[event.thread()];
    if (event.thread() == 0) time = 0;
    time = std::max(time, StreamTime(event.time_ns()));
    items_.push_back({time, Source::kEvent, i, event.thread()});
  }
}

void ChunkPlan::CollectSamples(const proto::Chunk& chunk) {
  for (int i = 0; i < chunk.sample_size(); ++i) {
    const proto::Sample& sample = chunk.sample(i);
    items_.push_back({StreamTime(sample.time_ns()), Source::kSample, i, sample.thread()});
  }
}

void ChunkPlan::Make(const ChunkPayload& payload) {
  items_.clear();
  CollectLogs(payload.logs());
  CollectEvents(payload.chunk());
  CollectSamples(payload.chunk());
  std::stable_sort(items_.begin(), items_.end(),
                   [](const Item& a, const Item& b) { return a.time < b.time; });
}

void ChunkPlan::Reduce(CallReducer& reducer, LeastRun least) {
  if (logs_.empty()) return;
  absl::flat_hash_map<uint32_t, std::vector<int64_t>> stops;  // by thread
  for (const Item& item : items_) {
    if (logs_.contains(item.thread)) stops[item.thread].push_back(item.time);
  }
  for (const uint32_t thread : log_threads_) {
    LogRunFinder finder(logs_[thread], reducer, least);
    for (const int64_t stop : stops[thread]) finder.FindUntil(stop);
    finder.FindUntil(std::numeric_limits<int64_t>::max());
  }
}

}  // namespace jtrace::postproc
