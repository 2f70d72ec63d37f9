// Recordings of Flight Recorder: samples with their stacks, threads and the JVM.
#include "postproc/export/exports.h"
#include "postproc/export/jfr/recording.h"

namespace jtrace::postproc {

std::unique_ptr<RecordWriter> MakeJfrWriter(const TraceModel& model, const ReportOptions& options,
                                            std::ostream& out) {
  return std::make_unique<jfr::RecordingWriter>(model, options.root, out);
}

}  // namespace jtrace::postproc
