// The call graph for Graphviz: `dot -Tsvg` draws it as a river of time (S4.11).
#include <string>

#include "absl/strings/str_format.h"
#include "postproc/graph/graph_reports.h"
#include "postproc/model/path_step.h"
#include "postproc/report/program_code.h"
#include "postproc/report/shorten.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

constexpr int kNameWidth = 56;  // columns of a node's label

// Pastel fills that black text is readable on; the arcs have the darker colour of their callee.
struct Colours {
  std::string_view fill;
  std::string_view line;
};
// By FrameKinds' letter.
Colours ColoursOf(char kind) {
  switch (kind) {
    case 'J':
    case 'C':
    case 'I':
    case 'E':
      return {"#d8ead3", "#4b8b3b"};
    case 'N':
    case 'c':
    case 'n':
      return {"#fbe3c8", "#c77d22"};
    case 'V':
      return {"#f6d5d5", "#b5443f"};
    case 'K':
      return {"#e5daf2", "#7d57a8"};
    default:
      return {"#e4e7ea", "#6b7680"};
  }
}

// `text` for a quoted string of the language in which \N, \l and &amp; have a meaning. Bytes that
// are not text are written in their visible form.
std::string Escape(std::string_view text) {
  std::string escaped;
  for (const char c : Printable(text)) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
    if (c == '&') escaped += "amp;";
  }
  return escaped;
}

class DotWriter {
 public:
  DotWriter(const ReportInput& input, std::ostream& out)
      : input_(input), out_(out), of_(MakeCallGraph(input)), graph_(of_.graph) {
    const std::vector<char> by_routine = FrameKinds(input);
    for (const GraphNode& node : graph_.nodes()) {
      kinds_.push_back(node.is_root() ? ' '
                                      : by_routine[input.flat().rows()[node.row].routine.value]);
    }
  }

  void Write() {
    WriteHead();
    for (size_t i = 0; i < graph_.nodes().size(); ++i) WriteNode(i);
    const std::vector<double> widths =
        graph_.Widths(input_.options.widths, input_.options.widths_by_self);
    for (size_t i = 0; i < widths.size(); ++i) WriteArc(graph_.arcs()[i], widths[i]);
    out_ << "}\n";
  }

 private:
  std::string Amount(int64_t value) const {
    return StrCat(FormatPercent(PercentOf(value, graph_.whole())), " (",
                  FormatMeasure(input_, value), ")");
  }

  void WriteHead() {
    out_ << "// Draw it: dot -Tsvg -o graph.svg FILE\n"
            "digraph jtrace {\n"
         << "  graph [rankdir=TB, ranksep=0.45, nodesep=0.2, fontname=\"Helvetica\", fontsize=12, "
            "labelloc=b, label=\""
         << Escape(DescribeGraph(input_, of_)) << "\"]\n"
         << "  node [shape=box, fontname=\"Helvetica\", fontsize=11, margin=\"0.12,0.05\"]\n"
         << "  edge [fontname=\"Helvetica\", fontsize=9, arrowsize=0.5]\n";
  }

  // Solid: events counted it; dashed: only samples saw it.
  void WriteNode(size_t index) {
    const GraphNode& node = graph_.nodes()[index];
    const std::string_view name = graph_.Name(node);
    std::string label = StrCat(Escape(ShortenName(name, kNameWidth)), "\\n");
    const bool sampled = !node.is_root() && !input_.flat().rows()[node.row].instrumented;
    if (input_.measure().kind == Measure::Kind::kCalls) {
      StrAppend(&label, Counted(node.calls, "call"), ", ", FormatCount(node.total),
                " with callees");
    } else {
      StrAppend(&label, "total ", Amount(node.total), "  self ", Amount(node.self));
    }
    if (node.collapsed != 0) StrAppend(&label, "\\ncollapsed ", Amount(node.collapsed));
    const Colours colours = ColoursOf(kinds_[index]);
    out_ << absl::StrFormat(
        "  n%d [label=\"%s\", tooltip=\"%s\", style=\"filled,rounded%s\", fillcolor=\"%s\", "
        "color=\"%s\"]\n",
        index, label, Escape(name), sampled ? ",dashed" : "", colours.fill, colours.line);
  }

  void WriteArc(const GraphArc& arc, double width) {
    std::string label = PlaceText(arc.place);
    if (arc.calls != 0) {
      StrAppend(&label, label.empty() ? "" : "\\n", Counted(arc.calls, "call"));
    }
    if (input_.measure().kind != Measure::Kind::kCalls) {
      StrAppend(&label, label.empty() ? "" : "\\n", Amount(arc.inclusive));
    }
    out_ << absl::StrFormat("  n%d -> n%d [label=\"%s\", penwidth=%.2f, color=\"%sa0\"%s]\n",
                            arc.caller, arc.callee, label, width,
                            ColoursOf(kinds_[arc.callee]).line,
                            arc.recursion == Recursion::kBack ? ", constraint=false" : "");
  }

  const ReportInput& input_;
  std::ostream& out_;
  const GraphOfReport of_;
  const CallGraph& graph_;
  std::vector<char> kinds_;  // by node
};

void WriteDot(const ReportInput& input, std::ostream& out) { DotWriter(input, out).Write(); }

}  // namespace

extern const Report kDotReport = {
    .name = "dot",
    .group = ReportGroup::kTools,
    .summary = "the call graph as a picture for Graphviz",
    .example = "jtrace-post --report=dot trace.bin | dot -Tsvg -o graph.svg",
    .accepts = kAcceptsFilter | kAcceptsMetric | kAcceptsRoot | kAcceptsThread | kAcceptsFold |
               kAcceptsScope | kAcceptsSites | kAcceptsWidthBy,
    .document = WriteDot,
};

}  // namespace jtrace::postproc
