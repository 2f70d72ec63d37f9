#include "postproc/table_writer.h"

#include <string>

#include "postproc/analysis.h"
#include "postproc/fleet/dataset.h"

namespace jtrace::postproc {

absl::Status WriteTables(const CommandLine& line, const TraceInput& traces,
                         absl::FunctionRef<void(const ImportStats&)> report,
                         absl::FunctionRef<void(std::string_view)> say) {
  fleet::DatasetWriter writer({line.output, line.labels, say});
  for (const std::string& trace : line.traces) {
    Analysis analysis(line);
    absl::Status status = analysis.Read(traces, absl::MakeConstSpan(&trace, 1));
    report(analysis.stats());
    if (status.ok()) status = writer.Add(analysis.Input());
    if (!status.ok()) return status;
  }
  return writer.Finish();
}

}  // namespace jtrace::postproc
