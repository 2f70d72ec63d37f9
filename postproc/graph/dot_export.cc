// The call graph for Graphviz: `dot -Tsvg` draws it as a river of time (S4.11).
#include <string>

#include "absl/strings/str_format.h"
#include "postproc/graph/graph_reports.h"
#include "postproc/page/frame_kinds.h"
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

// The length of the UTF-8 sequence at the beginning of `text`; 0 if there is none.
size_t SequenceLength(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const size_t length = lead < 0x80                   ? 1
                        : lead >= 0xc2 && lead < 0xe0 ? 2
                        : lead >= 0xe0 && lead < 0xf0 ? 3
                        : lead >= 0xf0 && lead < 0xf5 ? 4
                                                      : 0;
  if (length == 0 || length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return 0;
  }
  return length;
}

// `text` for a quoted string of the language in which \N, \l and &amp; mean something. Control
// characters and what is no UTF-8 become U+FFFD.
std::string Escape(std::string_view text) {
  constexpr std::string_view kReplacement = "\xef\xbf\xbd";
  std::string escaped;
  while (!text.empty()) {
    const size_t length = SequenceLength(text);
    const auto byte = static_cast<unsigned char>(text[0]);
    if (length == 0 || byte < 0x20 || byte == 0x7f) {
      escaped += kReplacement;
    } else if (byte == '"' || byte == '\\') {
      StrAppend(&escaped, "\\", text.substr(0, 1));
    } else if (byte == '&') {
      escaped += "&amp;";
    } else {
      escaped += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
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
                                      : by_routine[input.flat.rows()[node.row].routine.value]);
    }
  }

  void Write() {
    WriteHead();
    for (size_t i = 0; i < graph_.nodes().size(); ++i) WriteNode(i);
    const std::vector<double> widths = graph_.Widths(input_.options.widths);
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

  // Solid: events counted it; dashed: samples alone saw it.
  void WriteNode(size_t index) {
    const GraphNode& node = graph_.nodes()[index];
    const std::string_view name = graph_.Name(node);
    std::string label = StrCat(Escape(ShortenName(name, kNameWidth)), "\\n");
    const bool sampled = !node.is_root() && !input_.flat.rows()[node.row].instrumented;
    if (input_.measure.kind == Measure::Kind::kCalls) {
      StrAppend(&label, FormatCount(node.calls), " calls, ", FormatCount(node.total),
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
    std::string label;
    if (arc.calls != 0) label = StrCat(FormatCount(arc.calls), arc.calls == 1 ? " call" : " calls");
    if (input_.measure.kind != Measure::Kind::kCalls) {
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

}  // namespace

void WriteDot(const ReportInput& input, std::ostream& out) { DotWriter(input, out).Write(); }

}  // namespace jtrace::postproc
