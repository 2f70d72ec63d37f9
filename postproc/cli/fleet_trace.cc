#include "postproc/cli/fleet_trace.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "postproc/cli/answer_rows.h"
#include "postproc/model/frame_name.h"
#include "postproc/reader/text_format.h"
#include "postproc/support/strings.h"

namespace jtrace::control {
namespace {

using postproc::Origin;
using postproc::StrAppend;
using postproc::duckdb::Answer;
using PathId = std::pair<int64_t, int64_t>;

Origin OriginOf(const std::string& owner) {
  if (owner == "native") return Origin::kNative;
  if (owner == "jvm") return Origin::kVm;
  return owner == "kernel" ? Origin::kKernel : Origin::kCompiled;
}

std::string Field(std::string_view text) {
  std::string field = "\t";
  postproc::text::AppendEscaped(field, text);
  return field;
}

class MergedTrace {
 public:
  explicit MergedTrace(std::ostream& out) : out_(out) {}

  void WriteHead(const AnswerRows& nodes, const AnswerRows& samples) {
    out_ << "# jtrace-text 1 unit=ns\n";
    if (samples.size() > 0) {
      out_ << "#@\tsession\tinterval_ns\t" << samples.Number(0, "interval_ns") << '\n';
    }
    std::set<std::string> scope;
    std::set<std::pair<std::string, std::string>> kinds;
    for (size_t row = 0; row < nodes.size(); ++row) {
      const std::string routine = nodes.Text(row, "routine");
      if (nodes.Number(row, "probed") != 0) scope.insert(routine);
      const std::string kind = nodes.Text(row, "kind");
      if (!kind.empty() && kind != "method") kinds.emplace(kind, routine);
    }
    for (const std::string& routine : scope) out_ << "#@\tscope" << Field(routine) << '\n';
    for (const auto& [kind, routine] : kinds) {
      out_ << "#@\troutine\t" << kind << '\t' << Field(routine) << '\n';
    }
  }

  void WriteNode(const AnswerRows& nodes, size_t row) {
    const Path& path = NotePath(nodes, row);
    std::string counts;
    for (const auto& [column, key] :
         {std::pair("calls", "calls"), std::pair("calls_jitted", "calls_jitted"),
          std::pair("base_ns", "base"), std::pair("off_ns", "off")}) {
      const int64_t value = nodes.Number(row, column);
      if (value != 0) StrAppend(&counts, counts.empty() ? "" : ",", key, "=", value);
    }
    if (counts.empty()) return;
    out_ << '0' << Field(nodes.Text(row, "thread_group")) << "\tnode\t" << counts;
    for (const std::string* routine : RoutinesOf(path)) out_ << Field(*routine);
    out_ << '\n';
  }

  // Frames below the last one that events counted are those of samples.
  void WriteSample(const AnswerRows& samples, size_t row) {
    const auto found =
        paths_.find({samples.Number(row, "path_hi"), samples.Number(row, "path_lo")});
    if (found == paths_.end() || samples.Number(row, "ticks") == 0) return;
    const std::vector<const std::string*> routines = RoutinesOf(found->second);
    const std::string state = samples.Text(row, "state");
    out_ << '0' << Field(samples.Text(row, "thread_group")) << "\tsample-at";
    if (state != "running") out_ << '.' << state;
    out_ << '*' << samples.Number(row, "ticks") << '\t' << found->second.counted;
    for (size_t i = 0; i < found->second.counted; ++i) out_ << Field(*routines[i]);
    for (const std::string* routine : routines) {
      out_ << Field(FrameText(Origin::kCompiled, "", *routine));
    }
    const std::string function = samples.Text(row, "function");
    if (!function.empty() && (routines.empty() || function != *routines.back())) {
      out_ << Field(
          FrameText(OriginOf(samples.Text(row, "owner")), samples.Text(row, "module"), function));
    }
    out_ << '\n';
  }

 private:
  struct Path {
    PathId parent;
    std::string routine;  // the last one
    size_t depth = 0;
    size_t counted = 0;  // the depth of the last frame that events counted
  };

  static std::string FrameText(Origin origin, std::string_view module, std::string_view routine) {
    const bool has_module =
        origin != Origin::kCompiled && !module.empty() && !module.starts_with('[');
    return postproc::FormatFrameName({origin, has_module ? module : "", routine});
  }

  // Its parent is there already, perhaps of another thread group.
  const Path& NotePath(const AnswerRows& nodes, size_t row) {
    Path& path = paths_[{nodes.Number(row, "path_hi"), nodes.Number(row, "path_lo")}];
    path.depth = static_cast<size_t>(nodes.Number(row, "depth"));
    if (path.depth == 0) return path;
    path.parent = {nodes.Number(row, "parent_hi"), nodes.Number(row, "parent_lo")};
    path.routine = nodes.Text(row, "routine");
    const auto parent = paths_.find(path.parent);
    const size_t above = parent == paths_.end() ? 0 : parent->second.counted;
    path.counted = std::max(path.counted, nodes.Number(row, "calls") != 0 ? path.depth : above);
    return path;
  }

  // Root first.
  std::vector<const std::string*> RoutinesOf(const Path& path) const {
    std::vector<const std::string*> routines(path.depth);
    const Path* at = &path;
    for (size_t i = path.depth; i-- > 0;) {
      routines[i] = &at->routine;
      const auto parent = paths_.find(at->parent);
      if (parent == paths_.end()) break;
      at = &parent->second;
    }
    return routines;
  }

  std::ostream& out_;
  std::map<PathId, Path> paths_;
};

}  // namespace

void WriteMergedTrace(const Answer& nodes, const Answer& samples, std::ostream& out) {
  const AnswerRows node_rows(nodes);
  const AnswerRows sample_rows(samples);
  MergedTrace trace(out);
  trace.WriteHead(node_rows, sample_rows);
  for (size_t row = 0; row < node_rows.size(); ++row) trace.WriteNode(node_rows, row);
  for (size_t row = 0; row < sample_rows.size(); ++row) trace.WriteSample(sample_rows, row);
}

}  // namespace jtrace::control
