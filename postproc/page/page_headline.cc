#include "postproc/page/page_headline.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "postproc/report/headline.h"
#include "postproc/report/probe_compilation.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

constexpr size_t kMost = 8;          // of each list
constexpr size_t kMostCallers = 12;  // of a method

// The page's name of a measure (postproc/web/src/measure.ts).
std::string PageMeasure(const Measure& measure) {
  return measure.kind == Measure::Kind::kMetric ? StrCat("metric:", measure.name) : measure.name;
}

class HeadlineWriter {
 public:
  HeadlineWriter(const ReportInput& input, absl::FunctionRef<int64_t(RoutineId)> number_of,
                 JsonWriter& json)
      : input_(input), number_of_(number_of), json_(json) {}

  void Write() {
    const Headline headline = MakeHeadline(input_, kMost);
    json_.Key("headline");
    json_.BeginObject();
    json_.Text("measure", PageMeasure(input_.measure()));
    json_.Int("whole", input_.measure().whole);
    WriteConsumers(headline);
    json_.Int("probe_compilation", EstimatedProbeCompilation(input_));
    WriteMethods("heaviest", headline.heaviest);
    WriteMethods("called", headline.most_called);
    WriteMethods("allocates", headline.allocating);
    json_.EndObject();
  }

 private:
  void WriteConsumers(const Headline& headline);
  void WriteMethods(std::string_view key, const std::vector<HeavyMethod>& methods);

  const ReportInput& input_;
  absl::FunctionRef<int64_t(RoutineId)> number_of_;
  JsonWriter& json_;
};

void HeadlineWriter::WriteConsumers(const Headline& headline) {
  json_.Key("consumers");
  json_.BeginArray();
  for (size_t i = 0; i < kConsumers; ++i) {
    const Consumption& used = headline.consumers[i];
    if (used.amount == 0) continue;
    json_.BeginObject();
    json_.Text("name", ConsumerName(static_cast<Consumer>(i)));
    json_.Bool("of_program", IsOfProgram(static_cast<Consumer>(i)));
    json_.Int("amount", used.amount);
    json_.List("parts", used.parts, [&](const Consumption::Part& part) {
      json_.BeginArray();
      json_.Text(part.name);
      json_.Int(part.amount);
      json_.EndArray();
    });
    json_.EndObject();
  }
  json_.EndArray();
}

void HeadlineWriter::WriteMethods(std::string_view key, const std::vector<HeavyMethod>& methods) {
  json_.List(key, methods, [&](const HeavyMethod& method) {
    json_.BeginObject();
    json_.Int("routine", number_of_(method.routine));
    json_.Int("own", method.own);
    json_.Int("calls", method.calls);
    json_.Int("callee", method.callee ? number_of_(method.callee) : -1);
    json_.Int("of_callee", method.of_callee);
    const size_t callers = std::min(method.callers.size(), kMostCallers);
    json_.Column("callers", absl::MakeConstSpan(method.callers).first(callers), number_of_);
    json_.EndObject();
  });
}

}  // namespace

void WritePageHeadline(const ReportInput& input, absl::FunctionRef<int64_t(RoutineId)> number_of,
                       JsonWriter& json) {
  HeadlineWriter(input, number_of, json).Write();
}

}  // namespace jtrace::postproc
