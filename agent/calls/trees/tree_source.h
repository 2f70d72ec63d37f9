// record=tree: writes the threads' call trees into a chunk. Writer thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "agent/base/losses.h"
#include "agent/calls/trees/call_kinds.h"
#include "agent/calls/trees/tree_collector.h"
#include "agent/jvm/thread_registry.h"
#include "agent/jvm/thread_tree_groups.h"
#include "agent/trace/chunk_source.h"
#include "common/call_site.h"

namespace jtrace::calls {

// Returns where the routine `caller` calls `callee` from; `number`: NodeUpdate::call_site.
using FindCallSite = std::function<CallSite(uint32_t caller, uint32_t number, uint32_t callee)>;

class TreeSource : public trace::ChunkSource {
 public:
  struct Settings {
    ClockScale* scale = nullptr;            // of the times in the trees; null: there are none
    std::vector<std::string> metrics = {};  // names of what the probes charge, by index
    CallKinds kinds = {};                   // the calls that are recorded
    FindCallSite find_call_site = nullptr;  // null: call sites are not distinguished
  };

  TreeSource(TreeCollector& collector, jvm::ThreadRegistry& threads, jvm::ThreadTreeGroups& groups,
             trace::RecordEncoder& encoder, Losses& losses, Settings settings)
      : collector_(collector),
        threads_(threads),
        groups_(groups),
        encoder_(encoder),
        losses_(losses),
        settings_(std::move(settings)) {}
  void Poll(proto::Chunk& chunk) override;
  void AddChanges(uint64_t time_ns, proto::Chunk& chunk) override;
  bool IsUrgent() const override { return collector_.IsShort(); }
  void Flush() override { collector_.ReadAll(); }
  void EndFile(bool, proto::Chunk&) override { collector_.ReportAll(); }
  void BeginFile() override { collector_.BeginFile(); }
  // A node's number in the trace; 0: a thread's root.
  uint32_t NumberOf(uint64_t ref) { return collector_.NumberOf(ref); }
  // See TreeCollector.
  void OnThreadEnd(std::function<void(const signal_safe::ThreadState&)> action) {
    collector_.OnThreadEnd(std::move(action));
  }

 private:
  void AddCallsWithoutTree(proto::Chunk& chunk);
  void UpdateLosses();

  TreeCollector& collector_;
  jvm::ThreadRegistry& threads_;
  jvm::ThreadTreeGroups& groups_;
  trace::RecordEncoder& encoder_;
  Losses& losses_;
  Settings settings_;
  uint64_t deferred_report_ns_ = 0;  // time of the last Collect with `reports_deferred`
};

}  // namespace jtrace::calls
