#include "postproc/table_writer.h"

#include <string>

#include "postproc/analysis.h"
#include "postproc/fleet/dataset.h"

namespace jtrace::postproc {

absl::Status WriteTables(const CommandLine& line, const TraceInput& traces,
                         absl::FunctionRef<void(const ImportStats&)> report) {
  fleet::DatasetWriter writer({line.output, line.labels});
  absl::Status status;
  for (const std::string& trace : line.traces) {
    Analysis analysis(line);
    status = analysis.Read(traces, absl::MakeConstSpan(&trace, 1));
    report(analysis.stats());
    if (status.ok()) status = writer.Add(analysis.Input());
    if (!status.ok()) break;
  }
  const absl::Status written = writer.Finish();
  return status.ok() ? written : status;
}

}  // namespace jtrace::postproc
