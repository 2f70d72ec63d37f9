// Fuzz target of text traces (.jtxt). For any input: an error is one line, the reports' sums hold,
// and a dump of what was read reads back as itself.
#include <sstream>
#include <string>
#include <string_view>

#include "native-tests/fuzz/report_stages.h"
#include "native-tests/fuzz/require.h"
#include "postproc/reader/text_reader.h"
#include "postproc/report/text_writer.h"

namespace jtrace::fuzz {
namespace {

using postproc::ReadTextTrace;

std::string Dump(std::string_view trace) {
  postproc::TraceModel model;
  postproc::ImportStats stats;
  std::ostringstream out;
  postproc::TextWriter writer(model, out);
  Require(ReadTextTrace(trace, "t", model, stats, writer).ok());
  Require(writer.Finish().ok());
  return out.str();
}

void Check(std::string_view trace) {
  ReportStages stages;
  const absl::Status status =
      ReadTextTrace(trace, "t", stages.model(), stages.stats(), stages.visitor());
  if (!status.ok()) return Require(IsOneLine(status.message()));
  stages.Check();
  const std::string dump = Dump(trace);
  Require(Dump(dump) == dump);
}

}  // namespace
}  // namespace jtrace::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace jtrace::fuzz;  // NOLINT: a fuzz target
  if (size != 0) Check(View(data, size));
  return 0;
}
