// Every sample with its stack (FIG. 25).
#include <algorithm>
#include <numeric>

#include "postproc/report/report.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

Table SamplesTable(const ReportInput& input) {
  Table table;
  table.columns = {{"sample", Style::kCount},
                   {"time", Style::kTime},
                   Column{"thread"}.AsPlain(),
                   {"stack"},
                   {"weight", Style::kCount},
                   {"state"},
                   {"on"},
                   Column{"labels"}.AsPlain()};
  const std::vector<LoggedSample>& samples = input.samples.samples();
  std::vector<uint32_t> order(samples.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return samples[a].time < samples[b].time; });
  int64_t number = 0;
  for (const uint32_t index : order) {
    const LoggedSample& sample = samples[index];
    std::string stack;
    for (const FrameId frame : input.samples.stacks().Frames(sample.stack)) {
      StrAppend(&stack, stack.empty() ? "" : " > ", input.model.FrameText(frame));
    }
    table.rows.push_back({Cell::Int(++number), Cell::Int(sample.time),
                          Cell::Text(input.model.thread(sample.thread).name), Cell::Text(stack),
                          Cell::Int(sample.weight), Cell::Text(SampleStateName(sample.state)),
                          Cell::Text(input.model.ClassName(sample.blocker)),
                          Cell::Text(input.model.LabelsText(sample.labels))});
  }
  return table;
}

}  // namespace

extern const Report kSamplesReport = {
    .name = "samples",
    .group = ReportGroup::kSamples,
    .summary = "every sample with its stack",
    .example = "jtrace-post --report=samples --thread='worker-*' trace.bin",
    .accepts = kAcceptsOfRecords,
    .instead = {{kAcceptsMetric, "it lists samples; --report=paths has metrics by path"}},
    .if_empty = kNoSamplesRecorded,
    .table = SamplesTable,
};

}  // namespace jtrace::postproc
