// Collapsed stacks: a line `thread;frame;frame VALUE` for each path with a self value. With
// sites=on a frame has the place from which it calls the next one: `main;A.run():120;B.work() 5`.
#include <string>
#include <string_view>

#include "postproc/export/export_frames.h"
#include "postproc/export/export_tree.h"
#include "postproc/model/path_step.h"
#include "postproc/report/report.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

// Frames end at ';', stacks at the end of the line.
std::string FieldText(std::string_view name) {
  std::string field(name);
  for (char& c : field) {
    if (c == ';') c = ':';
    if (c == '\n' || c == '\r') c = ' ';
  }
  return field;
}

void WriteCollapsed(const ReportInput& input, std::ostream& out) {
  const ExportFrames frames(input);
  std::vector<std::string> fields;
  for (const ExportFrame& frame : frames.frames()) fields.push_back(FieldText(frame.name));
  const ExportTree tree(input, StacksOf::kPrimary, [&](const CallNode& node) {
    return fields[frames.Of(node)].size() + PlaceText(node.place).size() + 1;
  });

  std::string stack;         // of the current path
  std::vector<size_t> ends;  // in it, by level
  for (const NodeId id : tree.nodes()) {
    const CallNode& node = input.tree.node(id);
    ends.resize(node.level);
    stack.resize(ends.empty() ? 0 : ends.back());
    if (!ends.empty()) StrAppend(&stack, PlaceText(node.place), ";");
    stack += fields[frames.Of(node)];
    ends.push_back(stack.size());
    // Readers support no negative numbers.
    const int64_t value = tree.primary().Base(id);
    if (value <= 0) continue;
    StrAppend(&stack, " ", value, "\n");
    out.write(stack.data(), static_cast<std::streamsize>(stack.size()));
  }
}

}  // namespace

extern const Report kCollapsedReport = {
    .name = "collapsed",
    .group = ReportGroup::kTools,
    .summary = "stacks as lines `thread;frame;frame VALUE`, for flame graphs",
    .example = "jtrace-post --report=collapsed --metric=calls -o stacks.txt trace.bin",
    .accepts = kAcceptsOfTree | kAcceptsSites,
    .document = WriteCollapsed,
};

}  // namespace jtrace::postproc
