#include "postproc/findings/words.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "absl/container/btree_map.h"
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

// ", mostly from shop.Main.run()": the program's method that makes half of the calls or more.
std::string FromText(const Facts& facts, RoutineId method) {
  const CallTree& tree = facts.tree();
  absl::btree_map<uint32_t, int64_t> by_caller;
  RoutineId most;
  for (NodeId at = tree.first_instance(method); at; at = tree.next_instance(at)) {
    const CallNode& node = tree.node(at);
    if (node.origin != NodeOrigin::kEvent || !node.parent) continue;
    const NodeId caller = facts.Owner(node.parent);
    if (!caller || tree.node(caller).routine == method) continue;
    const RoutineId routine = tree.node(caller).routine;
    int64_t& calls = by_caller[routine.value];
    calls = WrapAdd(calls, node.calls);
    if (!most || calls > by_caller[most.value]) most = routine;
  }
  const int64_t all = facts.CallsOf(method);
  const int64_t calls = most ? by_caller[most.value] : 0;
  if (calls == 0 || calls < all - calls) return "";
  return StrCat(calls == all ? ", all from " : ", mostly from ", facts.Name(most));
}

}  // namespace

std::string EachText(int64_t part, int64_t whole) {
  if (whole <= 0) return FormatCount(part);
  if (part % whole == 0) return FormatCount(part / whole);
  if (part / whole >= kRepeats) return StrCat("about ", FormatCount(part / whole));
  return absl::StrFormat("about %.2g", static_cast<double>(part) / static_cast<double>(whole));
}

std::string RunsText(const Facts& facts, RoutineId method, NodeId at) {
  const auto all = [&] {
    return StrCat("runs ", Counted(facts.CallsOf(method), "time"), FromText(facts, method));
  };
  const int64_t calls = facts.tree().node(at).calls;
  int64_t fewest_between = std::numeric_limits<int64_t>::max();
  for (const NodeId above : facts.OwnersAbove(at)) {
    const CallNode& caller = facts.tree().node(above);
    const int64_t of_caller = facts.CallsOf(caller.routine);
    // Where fewer calls lead on, most calls of the caller run the method not at all.
    if (caller.routine == method || fewest_between < caller.calls) return all();
    if (caller.calls > 0) fewest_between = std::min(fewest_between, caller.calls);
    if (caller.calls < 2 || of_caller < 2 || calls / caller.calls < kRepeats) continue;
    const int64_t below = CallsBelow(facts.tree(), method, caller.routine);
    if (below / of_caller < kRepeats) return all();
    return StrCat("runs ", EachText(below, of_caller), " times per ", facts.Name(caller.routine));
  }
  return all();
}

std::string OfOption(const Facts& facts, RoutineId routine) {
  return StrCat("--of=", facts.Name(routine));
}

}  // namespace jtrace::postproc
