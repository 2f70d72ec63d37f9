// speedscope's own file format: a "sampled" profile for each thread, frames shared by all.
#include <string>
#include <string_view>
#include <vector>

#include "common/json_writer.h"
#include "postproc/export/export_frames.h"
#include "postproc/export/export_tree.h"
#include "postproc/export/export_unit.h"
#include "postproc/model/path_step.h"
#include "postproc/report/report.h"
#include "postproc/support/strings.h"
#include "postproc/version.h"

namespace jtrace::postproc {
namespace {

// The format's unit, and the number of units in a value.
struct Scale {
  std::string_view unit;
  int64_t factor = 1;
};

Scale ScaleOf(const ExportUnit& of) {
  for (const std::string_view unit : {"nanoseconds", "microseconds", "milliseconds", "bytes"}) {
    if (of.name == unit) return {unit, 1};
  }
  if (of.ns != 0) return {"nanoseconds", of.ns};
  return {"none", 1};
}

class SpeedscopeWriter {
 public:
  SpeedscopeWriter(const ReportInput& input, std::ostream& out)
      : input_(input),
        frames_(input),
        placed_(input, frames_),
        tree_(
            input, StacksOf::kPrimary,
            [bytes = StrCat(placed_.all().size(), ",").size()](const CallNode&) { return bytes; }),
        out_(out),
        scale_(ScaleOf(UnitOf(tree_.primary(), input.model))) {}

  void Write() {
    out_ << "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":"
         << JsonString(StrCat("jtrace-post ", kVersion))
         << ",\"name\":" << JsonString(input_.model.traces().front().file)
         << ",\"shared\":{\"frames\":[";
    std::string_view separator = "\n";
    for (const PlacedFrame& placed : placed_.all()) {
      const ExportFrame& frame = frames_.frames()[placed.frame];
      out_ << separator << "{\"name\":" << JsonString(StrCat(frame.name, PlaceText(placed.place)))
           << ",\"file\":" << JsonString(frame.source);
      if (IsLine(placed.place)) out_ << ",\"line\":" << NumberInCallSite(placed.place);
      out_ << '}';
      separator = ",\n";
    }
    out_ << "\n]},\"profiles\":[";
    const std::vector<NodeId>& nodes = tree_.nodes();
    for (size_t begin = 0; begin < nodes.size();) {
      size_t end = begin + 1;
      while (end < nodes.size() && input_.tree.node(nodes[end]).parent) ++end;
      out_ << (begin == 0 ? "\n" : ",\n");
      WriteThread(absl::MakeConstSpan(nodes).subspan(begin, end - begin));
      begin = end;
    }
    out_ << "\n]}\n";
  }

 private:
  // The nodes of one thread, its root first. Readers support no negative numbers.
  void WriteThread(absl::Span<const NodeId> nodes) {
    const Measure& measure = tree_.primary();
    std::vector<int64_t> values;
    std::string stack;           // frames of the current path, as JSON
    std::vector<size_t> begins;  // in it, by level
    int64_t total = 0;
    const std::string& thread = frames_.frames()[frames_.Of(input_.tree.node(nodes[0]))].name;
    out_ << "{\"type\":\"sampled\",\"name\":" << JsonString(StrCat(thread, " (", measure.name, ")"))
         << ",\"unit\":\"" << scale_.unit << "\",\"samples\":[";
    for (const NodeId id : nodes) {
      const CallNode& node = input_.tree.node(id);
      begins.resize(node.level);
      if (begins.empty()) {
        stack.clear();
      } else {
        // The caller, with the place of this call.
        const uint32_t caller = frames_.Of(input_.tree.node(node.parent));
        stack.resize(begins.back());
        StrAppend(&stack, placed_.Of(caller, node.place), ",");
      }
      begins.push_back(stack.size());
      StrAppend(&stack, frames_.Of(node));
      const int64_t value = measure.Base(id);
      if (value <= 0) continue;
      out_ << (values.empty() ? "[" : ",\n[") << stack << ']';
      values.push_back(WrapMultiply(value, scale_.factor));
      total = WrapAdd(total, values.back());
    }
    out_ << "],\"weights\":[";
    for (size_t i = 0; i < values.size(); ++i) out_ << (i == 0 ? "" : ",") << values[i];
    out_ << "],\"startValue\":0,\"endValue\":" << total << '}';
  }

  const ReportInput& input_;
  const ExportFrames frames_;
  const PlacedFrames placed_;
  const ExportTree tree_;
  std::ostream& out_;
  const Scale scale_;
};

void WriteSpeedscope(const ReportInput& input, std::ostream& out) {
  SpeedscopeWriter(input, out).Write();
}

}  // namespace

extern const Report kSpeedscopeReport = {
    .name = "speedscope",
    .group = ReportGroup::kTools,
    .summary = "profile for speedscope.app, one for each thread",
    .example = "jtrace-post --report=speedscope -o trace.speedscope.json trace.bin",
    .accepts = kAcceptsOfTree | kAcceptsSites,
    .document = WriteSpeedscope,
};

}  // namespace jtrace::postproc
