// Recordings of Flight Recorder: samples with their stacks, threads and the JVM.
#include "postproc/export/jfr/recording.h"
#include "postproc/report/report.h"

namespace jtrace::postproc {
namespace {

std::unique_ptr<RecordWriter> MakeJfrWriter(const TraceModel& model, const ReportOptions& options,
                                            std::ostream& out) {
  return std::make_unique<jfr::RecordingWriter>(model, options.root, out);
}

}  // namespace

extern const Report kJfrReport = {
    .name = "jfr",
    .group = ReportGroup::kTools,
    .summary = "samples as a recording of Flight Recorder, for JDK Mission Control",
    .example = "jtrace-post --report=jfr -o samples.jfr trace.bin",
    .accepts = kAcceptsSort | kAcceptsRoot | kAcceptsThread | kAcceptsScope,
    .stream = MakeJfrWriter,
};

}  // namespace jtrace::postproc
