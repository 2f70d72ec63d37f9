// The traces that the command line names, as streams of records.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "postproc/input/command_line.h"
#include "postproc/input/environment.h"
#include "postproc/model/import_stats.h"
#include "postproc/model/record_visitor.h"
#include "postproc/model/trace_model.h"

namespace jtrace::postproc {

class TraceInput {
 public:
  // Both outlive it.
  TraceInput(const CommandLine& line, Environment& environment)
      : line_(line), environment_(environment) {}

  // Reads the files one after the other. With `reduce_calls`, runs of calls may arrive summed up
  // (RecordVisitor::OnReducedCalls). Shows its progress on a terminal. Limits the process's memory
  // to what traces of their size may take.
  absl::Status Read(absl::Span<const std::string> traces, bool reduce_calls, TraceModel& model,
                    ImportStats& stats, RecordVisitor& visitor) const;

 private:
  absl::Status ReadOne(const std::string& path, bool reduce_calls, TraceModel& model,
                       ImportStats& stats, RecordVisitor& visitor) const;
  void LimitMemory() const;

  const CommandLine& line_;
  Environment& environment_;
};

}  // namespace jtrace::postproc
