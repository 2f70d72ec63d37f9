#include "agent/calls/instrument/rewrite_statistics.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace jtrace::calls {
namespace {

using classfile::ProbeCounts;

struct ProbeRow {
  std::string_view name;
  std::string_view what;
  uint32_t ProbeCounts::*count;
};
constexpr ProbeRow kProbeRows[] = {
    {"entry", "at the entry of a method", &ProbeCounts::entries},
    {"exit", "before a return", &ProbeCounts::exits},
    {"resume", "at a catch handler", &ProbeCounts::resumes},
    {"catch-all", "for what leaves a method by an exception", &ProbeCounts::catch_alls},
    {"leaf", "a count at the entry of a method that calls nothing", &ProbeCounts::leaves},
    {"call", "around a call that leaves the scope", &ProbeCounts::calls},
    {"native-call", "around a call of a native method in scope", &ProbeCounts::natives},
    {"exception", "at an exception thrown or caught", &ProbeCounts::exceptions},
    {"monitor", "where a monitor is requested or released", &ProbeCounts::monitors},
    {"block", "blocks whose executions are counted or derived", &ProbeCounts::blocks},
    {"block-counter", "counters of these", &ProbeCounts::block_counters},
    {"throw-counter", "counters of exceptions on their way, which cost nothing else",
     &ProbeCounts::throw_counters},
    {"call-site", "before a call from another line than the last one", &ProbeCounts::call_sites},
};

void SetRow(std::string_view name, uint64_t count, std::string_view what,
            proto::Planner::Row& row) {
  row.set_name(std::string(name));
  row.set_count(count);
  row.set_what(std::string(what));
}

}  // namespace

bool RewriteStatistics::Count(uint32_t class_id, const classfile::RewriteResult& result) {
  std::lock_guard lock(mutex_);
  if (!classes_.insert(class_id).second) return false;
  changed_ = true;
  classes_rewritten_ += result.bytes.empty() ? 0 : 1;
  methods_seen_ += result.methods.size();
  for (const classfile::MethodOutcome& outcome : result.methods) {
    methods_probed_ += outcome.probed ? 1 : 0;
    ++by_reason_[static_cast<size_t>(outcome.reason)];
  }
  for (const ProbeRow& row : kProbeRows) probes_.*row.count += result.probes.*row.count;
  for (size_t i = 0; i < probes_.calls_left_out.size(); ++i) {
    probes_.calls_left_out[i] += result.probes.calls_left_out[i];
  }
  return true;
}

bool RewriteStatistics::Has(uint32_t class_id) const {
  std::lock_guard lock(mutex_);
  return classes_.contains(class_id);
}

uint64_t RewriteStatistics::methods_probed() const {
  std::lock_guard lock(mutex_);
  return methods_probed_;
}

void RewriteStatistics::Forget(const absl::flat_hash_set<uint32_t>& classes) {
  std::lock_guard lock(mutex_);
  for (const uint32_t class_id : classes) classes_.erase(class_id);
}

uint64_t RewriteStatistics::classes_rewritten() const {
  std::lock_guard lock(mutex_);
  return classes_rewritten_;
}

proto::Planner RewriteStatistics::DescribeLocked() const {
  proto::Planner planner;
  planner.set_classes_seen(classes_.size());
  planner.set_classes_rewritten(classes_rewritten_);
  planner.set_methods_seen(methods_seen_);
  planner.set_methods_probed(methods_probed_);
  for (const ProbeRow& row : kProbeRows) {
    if (probes_.*row.count == 0) continue;
    SetRow(row.name, probes_.*row.count, row.what, *planner.add_probe());
  }
  for (const classfile::ReasonInfo& reason : classfile::AllReasons()) {
    const uint64_t count = by_reason_[static_cast<size_t>(reason.reason)];
    if (count == 0 || reason.reason == classfile::Reason::kNone) continue;
    SetRow(reason.name, count, reason.what, *planner.add_method());
  }
  for (int i = 0; i < classfile::kCallReasonCount; ++i) {
    const uint64_t count = probes_.calls_left_out[static_cast<size_t>(i)];
    if (count == 0) continue;
    const auto& reason = Describe(static_cast<classfile::CallReason>(i));
    SetRow(reason.name, count, reason.what, *planner.add_call());
  }
  return planner;
}

void RewriteStatistics::AddChanges(uint64_t, proto::Chunk& chunk) {
  std::lock_guard lock(mutex_);
  if (!changed_) return;
  changed_ = false;
  *chunk.mutable_planner() = DescribeLocked();
}

void RewriteStatistics::BeginFile() {
  std::lock_guard lock(mutex_);
  changed_ = !classes_.empty();
}

}  // namespace jtrace::calls
