// Runs jtrace-post on one trace.
#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "postproc/ship/sealed_traces.h"
#include "postproc/ship/stop_signal.h"
#include "postproc/ship/target.h"

namespace jtrace::ship {

struct Converter {
  std::string post_processor;       // its path
  std::vector<std::string> labels;  // "service=shop"
  absl::Duration longest = absl::Minutes(10);
  bool is_private = false;  // the output is of this user alone, as traces are

  // `report`: "parquet"; `output`: what -o names. Of a trace that it cannot read the outcome is
  // kRefused. The message is the last line of jtrace-post.
  Delivery Convert(const SealedTrace& trace, const std::string& report,
                   const std::vector<std::string>& options, const std::string& output,
                   StopSignal& stop) const;
};

}  // namespace jtrace::ship
