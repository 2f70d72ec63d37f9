#include "agent/metrics/live_objects_source.h"

#include <algorithm>
#include <utility>

#include "agent/calls/trees/node_state.h"
#include "agent/signal_safe/routine_id.h"
#include "agent/trace/chunk_source.h"

namespace jtrace::metrics {

using metrics::AllocationCounts;
using metrics::AllocationPaths;
using metrics::Metric;

// The delta of one thread in the chunk.
class LiveObjectsSource::Rows {
 public:
  explicit Rows(proto::TreeDelta& delta) : delta_(&delta) {}

  // `call_site`: null: none of the nodes has one.
  void Define(uint32_t number, uint32_t parent, uint32_t routine, const CallSite* call_site) {
    delta_->add_new_node(defined_.Next(number));
    delta_->add_new_parent(parent);
    delta_->add_new_routine(routine);
    if (call_site != nullptr) delta_->add_new_place(*call_site);
  }

  // `name`: of the metric with this index. Number 0: the thread's root.
  void Add(size_t index, uint32_t name, uint32_t number, int64_t value) {
    Column& column = columns_[index];
    if (column.metric == nullptr) {
      column.metric = delta_->add_metric();
      column.metric->set_name(name);
    }
    column.metric->add_node(column.coder.Next(number));
    column.metric->add_value(value);
  }

 private:
  struct Column {
    proto::NodeMetric* metric = nullptr;
    trace::DeltaCoder coder;
  };

  proto::TreeDelta* delta_;
  trace::DeltaCoder defined_;
  std::array<Column, kMaxMetrics> columns_;
};

void LiveObjectsSource::AddChanges(uint64_t, proto::Chunk& chunk) {
  chunk_ = &chunk;
  paths_.CopyTo(known_, owners_);
  nodes_.resize(known_.size());
  thread_of_.resize(owners_.size());
  Threads threads;
  AddRoots(threads);
  AddPaths(threads);
  if (!routines_.empty()) encoder_.DefineRoutines(std::exchange(routines_, {}));
  losses_.Set("objects.paths", Severity::kWarning,
              known_.empty() ? 0 : paths_.Read(AllocationPaths::kTooMany).allocated.objects,
              "objects whose call path is not known, because there are too many: they are in "
              "[process]",
              "count fewer methods (include=com.acme.**)");
}

void LiveObjectsSource::AddRoots(Threads& threads) {
  absl::btree_map<uint32_t, Values> now;
  const auto add = [&](uint32_t thread, uint32_t path) {
    const Values values = Read(path);
    for (size_t i = 0; i < values.size(); ++i) now[thread][i] += values[i];
  };
  if (known_.empty()) return;
  add(Process(), AllocationPaths::kNoPath);
  add(Process(), AllocationPaths::kTooMany);
  for (size_t i = 0; i < owners_.size(); ++i) {
    const uint32_t root = owners_[i].root;
    if (root < AllocationPaths::kFirstPath) continue;
    add(owners_[i].has_tree ? ThreadOf(i) : Process(), root);
  }
  for (const auto& [thread, values] : now) {
    Report({.thread = thread}, values, roots_[thread], threads);
  }
}

void LiveObjectsSource::AddPaths(Threads& threads) {
  for (uint32_t path = AllocationPaths::kFirstPath; path < known_.size(); ++path) {
    if (known_[path].parent == 0) continue;
    const Values values = Read(path);
    Node& node = nodes_[path];
    if (values == node.reported) continue;
    const uint32_t thread = ThreadOf(known_[path].owner);
    Define(path, RowsOf(thread, threads));
    Report({.thread = thread, .number = node.number}, values, node.reported, threads);
  }
}

LiveObjectsSource::Rows& LiveObjectsSource::RowsOf(uint32_t thread, Threads& threads) {
  const auto found = threads.find(thread);
  if (found != threads.end()) return found->second;
  proto::TreeDelta* delta = chunk_->add_tree();
  delta->set_thread(thread);
  return threads.emplace(thread, Rows(*delta)).first->second;
}

void LiveObjectsSource::Report(const TraceNode& node, const Values& values, Values& reported,
                               Threads& threads) {
  for (size_t i = 0; i < settings_.metrics.size(); ++i) {
    if (values[i] == reported[i]) continue;
    const uint32_t name = encoder_.String(metrics::InfoOf(settings_.metrics[i]).name);
    RowsOf(node.thread, threads).Add(i, name, node.number, values[i]);
  }
  reported = values;
}

LiveObjectsSource::Values LiveObjectsSource::Read(uint32_t path) {
  const AllocationCounts read = paths_.Read(path);
  Node& node = nodes_[path];
  node.freed = read.freed;
  const auto value_of = [&](Metric metric) {
    switch (metric) {
      case Metric::kLiveBytes:
        return read.allocated.bytes - read.freed.bytes;
      case Metric::kLiveObjects:
        return read.allocated.objects - read.freed.objects;
      case Metric::kFreedBytes:
        return read.freed.bytes - node.freed_before.bytes;
      default:
        return read.freed.objects - node.freed_before.objects;
    }
  };
  Values values = {};
  for (size_t i = 0; i < settings_.metrics.size(); ++i) {
    values[i] = static_cast<int64_t>(value_of(settings_.metrics[i]));
  }
  return values;
}

void LiveObjectsSource::Define(uint32_t path, Rows& rows) {
  std::vector<uint32_t> undefined;
  for (uint32_t at = path; known_[at].parent != 0 && !nodes_[at].is_defined;
       at = known_[at].parent) {
    undefined.push_back(at);
  }
  for (; !undefined.empty(); undefined.pop_back()) DefineOne(undefined.back(), rows);
}

void LiveObjectsSource::DefineOne(uint32_t path, Rows& rows) {
  const Path& known = known_[path];
  Node& node = nodes_[path];
  if (node.number == 0) node.number = settings_.next_node();
  node.is_defined = true;
  const uint32_t routine = calls::TraceRoutine(known.routine);
  const uint32_t caller = calls::TraceRoutine(known_[known.parent].routine);
  if (routine != 0) routines_.push_back(routine);
  CallSite call_site = kNoCallSite;
  const bool has_call_sites = settings_.find_call_site != nullptr;
  if (has_call_sites) {
    call_site =
        settings_.find_call_site(caller, signal_safe::CallSiteNumberOf(known.routine), routine);
  }
  rows.Define(node.number, nodes_[known.parent].number, routine,
              has_call_sites ? &call_site : nullptr);
}

uint32_t LiveObjectsSource::ThreadOf(size_t owner) {
  uint32_t& thread = thread_of_[owner];
  if (thread != 0) return thread;
  const uint64_t java_tid = owners_[owner].java_tid;
  if (java_tid == Owner::kVirtual) {
    thread = groups_.NumberOfGroup(groups_.VirtualThreads());
  } else if (java_tid != Owner::kMore) {
    thread = threads_.Find(java_tid).number;
    // It has no number in this file: it ended in an earlier one.
    if (thread == 0) thread = groups_.NumberOfGroup(groups_.EndedThreads());
  } else {
    thread = groups_.NumberOfGroup(groups_.MoreThreads());
  }
  return thread;
}

void LiveObjectsSource::BeginFile() {
  for (Node& node : nodes_) {
    node.is_defined = false;
    node.freed_before = node.freed;
    node.reported = {};
  }
  roots_.clear();
  std::fill(thread_of_.begin(), thread_of_.end(), 0);
}

}  // namespace jtrace::metrics
