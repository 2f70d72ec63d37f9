#include "postproc/findings/words.h"

#include <vector>

#include "absl/strings/str_format.h"
#include "postproc/report/units.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

constexpr int64_t kRepeats = 10;

int64_t CallsBelow(const CallTree& tree, RoutineId method, RoutineId caller) {
  std::vector<bool> is_below(tree.size());
  int64_t calls = 0;
  // Nodes follow their parents.
  for (uint32_t i = 1; i <= tree.size(); ++i) {
    const CallNode& node = tree.node(NodeId(i));
    if (!node.parent) continue;
    is_below[i - 1] = is_below[node.parent.value - 1] || tree.node(node.parent).routine == caller;
    if (is_below[i - 1] && node.routine == method) calls = WrapAdd(calls, node.calls);
  }
  return calls;
}

}  // namespace

std::string EachText(int64_t part, int64_t whole) {
  if (whole <= 0) return FormatCount(part);
  if (part % whole == 0) return FormatCount(part / whole);
  if (part / whole >= kRepeats) return StrCat("about ", FormatCount(part / whole));
  return absl::StrFormat("about %.2g", static_cast<double>(part) / static_cast<double>(whole));
}

std::string RunsText(const Facts& facts, RoutineId method, NodeId at) {
  const std::string all = StrCat("runs ", FormatCount(facts.CallsOf(method)), " times");
  const int64_t calls = facts.tree().node(at).calls;
  for (const NodeId above : facts.OwnersAbove(at)) {
    const CallNode& caller = facts.tree().node(above);
    const int64_t of_caller = facts.CallsOf(caller.routine);
    if (caller.calls < 2 || of_caller < 2 || calls / caller.calls < kRepeats) continue;
    const int64_t below = CallsBelow(facts.tree(), method, caller.routine);
    if (caller.routine == method || below / of_caller < kRepeats) return all;
    return StrCat("runs ", EachText(below, of_caller), " times per ", facts.Name(caller.routine));
  }
  return all;
}

std::string OfOption(const Facts& facts, RoutineId routine) {
  return StrCat("--of=", facts.Name(routine));
}

}  // namespace jtrace::postproc
