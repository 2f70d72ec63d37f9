// The arguments of a notice about a wait that ended (0x64).
#pragma once

#include <string>
#include <vector>

#include "postproc/model/trace_model.h"
#include "postproc/reader/definitions.h"
#include "proto/trace.pb.h"

namespace jtrace::postproc {

// How it ended, its time, and what is known of the object and the threads: "how=unparked",
// "value=4000", "on=a.Queue", "for=worker-1", "at=a.Main.run()", "by=a.Worker.put()".
std::vector<std::string> WaitArgs(const proto::Event& event, Definitions& definitions,
                                  const TraceModel& model);

}  // namespace jtrace::postproc
