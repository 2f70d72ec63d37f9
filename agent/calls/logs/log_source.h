// Writes record=log into a chunk: entries and exits, and the trees, which count the calls that the
// log had no room for. Writer thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "agent/base/clock.h"
#include "agent/base/losses.h"
#include "agent/calls/logs/log_collector.h"
#include "agent/calls/trees/tree_source.h"
#include "agent/jvm/thread_registry.h"
#include "agent/samples/context_switch_source.h"
#include "agent/trace/chunk_source.h"

namespace jtrace::calls {

class LogSource : public trace::ChunkSource {
 public:
  struct Settings {
    uint64_t budget = 0;   // logbudget=, bytes of a file; 0: none
    bool waits = false;    // overflow=wait
    bool switches = true;  // whether times off the processors become events (0x11)
    // Switches that the kernel records; null: none.
    samples::ContextSwitchSource* recorded = nullptr;
  };

  // `trees`: the same threads' trees, which this source seals.
  LogSource(const RecordingClock& clock, LogCollector& collector, TreeSource trees,
            jvm::ThreadRegistry& threads, trace::RecordEncoder& encoder, Losses& losses,
            Settings settings);
  LogSource(const LogSource&) = delete;
  LogSource& operator=(const LogSource&) = delete;

  void Poll(proto::Chunk& chunk) override;
  bool IsBehind() const override { return is_behind_; }
  void AddChanges(uint64_t time_ns, proto::Chunk& chunk) override;
  void Flush() override { trees_.Flush(); }
  void EndFile(bool is_last, proto::Chunk& chunk) override;
  void BeginFile() override {
    trees_.BeginFile();
    collector_.BeginFile();
    defined_.clear();
  }
  void Recycle(proto::Chunk& written) override;
  void OnFileSizeChanged(uint64_t file_bytes) override { file_bytes_ = file_bytes; }

 private:
  void Add(const LogRun& run, proto::Chunk& chunk);
  void DefineRoutines(const LogRun& run);
  // Adds an empty log to the chunk.
  proto::EventLog* NewLog(proto::Chunk& chunk);
  // How long threads waited (overflow=wait).
  void ReportWaits();
  // Stops the logs when the budget is spent.
  void WatchBudget();

  const RecordingClock& clock_;
  LogCollector& collector_;
  TreeSource trees_;
  jvm::ThreadRegistry& threads_;
  trace::RecordEncoder& encoder_;
  Losses& losses_;
  const Settings settings_;
  uint64_t file_bytes_ = 0;
  bool is_behind_ = false;
  bool is_stopped_ = false;
  std::vector<uint8_t> defined_;  // by routine; 1: the file defines it
  // Logs that were written, with their memory, for later ones.
  std::vector<std::unique_ptr<proto::EventLog>> spare_;
  size_t spare_bytes_ = 0;
};

}  // namespace jtrace::calls
