#include "postproc/report/hot_arcs.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

constexpr uint32_t kNeverVirtual = 0x2 | 0x8;  // ACC_PRIVATE, ACC_STATIC

bool IsMethod(const ReportInput& input, const CallNode& node) {
  return node.routine && node.origin == NodeOrigin::kEvent &&
         input.model.TraitsOf(node.routine).kind == RoutineKind::kMethod;
}

// "A.run(int)" → {"A", "run(int)"}.
std::pair<std::string_view, std::string_view> SplitMethod(std::string_view name) {
  const size_t dot = name.substr(0, name.find('(')).rfind('.');
  if (dot == std::string_view::npos) return {"", name};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

class ArcCollector {
 public:
  explicit ArcCollector(const ReportInput& input) : input_(input), limits_(input.model) {}

  std::vector<HotArc> Collect(double least_percent);

 private:
  void AddNode(const CallNode& node);
  std::string_view Status(const HotArc& arc) const;
  InlineReason Reason(const HotArc& arc, std::vector<NotInlined> places) const;
  bool MayBeVirtual(RoutineId callee, std::string_view method) const;
  std::vector<Receiver> Receivers(const HotArc& arc) const;
  std::string_view Name(RoutineId id) const { return input_.model.RoutineName(id); }

  const ReportInput& input_;
  const InlineLimits limits_;
  std::vector<HotArc> arcs_;
  absl::flat_hash_map<std::pair<RoutineId, RoutineId>, size_t> index_;
  absl::flat_hash_map<RoutineId, int64_t> calls_;                // of each counted routine
  absl::flat_hash_map<RoutineId, std::vector<size_t>> callees_;  // arcs by caller
};

void ArcCollector::AddNode(const CallNode& node) {
  if (node.calls == 0 || !IsMethod(input_, node)) return;
  int64_t& calls = calls_[node.routine];
  calls = WrapAdd(calls, node.calls);
  const CallNode& above = input_.tree.node(node.parent);
  if (!IsMethod(input_, above)) return;
  auto [entry, inserted] = index_.try_emplace({above.routine, node.routine}, arcs_.size());
  if (inserted) {
    callees_[above.routine].push_back(arcs_.size());
    arcs_.push_back({above.routine, node.routine, 0, 0, {}, "", {}});
  }
  HotArc& arc = arcs_[entry->second];
  arc.calls = WrapAdd(arc.calls, node.calls);
  arc.jitted = WrapAdd(arc.jitted, node.calls_jitted);
}

std::string_view ArcCollector::Status(const HotArc& arc) const {
  const InliningOfArc& it = arc.inlining;
  if (input_.jit.empty()) return "unknown";
  // It ran compiled only in the code of others: of the caller or of a method between them.
  if (arc.jitted > 0 && input_.jit.Compiled(arc.callee).loads == 0) return "inlined";
  if (it.bodies == 0) return "caller not compiled";
  if (it.inlined == 0) return "not inlined";
  return it.inlined < it.bodies ? "partly" : "inlined";
}

bool ArcCollector::MayBeVirtual(RoutineId callee, std::string_view method) const {
  return !method.starts_with("<") && (input_.jit.Compiled(callee).modifiers & kNeverVirtual) == 0;
}

// Methods of one name and the same parameters that the caller calls in several classes.
std::vector<Receiver> ArcCollector::Receivers(const HotArc& arc) const {
  const std::string_view method = SplitMethod(Name(arc.callee)).second;
  if (!MayBeVirtual(arc.callee, method)) return {};
  std::vector<Receiver> receivers;
  int64_t all = 0;
  for (const size_t i : callees_.at(arc.caller)) {
    const auto [class_name, name] = SplitMethod(Name(arcs_[i].callee));
    if (name != method || !MayBeVirtual(arcs_[i].callee, name)) continue;
    receivers.push_back({class_name, static_cast<double>(arcs_[i].calls)});
    all = WrapAdd(all, arcs_[i].calls);
  }
  for (Receiver& it : receivers) it.percent *= all == 0 ? 0 : 100.0 / static_cast<double>(all);
  std::sort(receivers.begin(), receivers.end(), [](const Receiver& a, const Receiver& b) {
    return std::tuple(-a.percent, a.class_name) < std::tuple(-b.percent, b.class_name);
  });
  return receivers;
}

InlineReason ArcCollector::Reason(const HotArc& arc, std::vector<NotInlined> places) const {
  const auto callers_calls = static_cast<double>(calls_.at(arc.caller));
  const ArcFacts facts = {input_.jit.Compiled(arc.callee), arc.calls,
                          static_cast<double>(arc.calls) / callers_calls, Receivers(arc),
                          std::move(places)};
  return WhyNotInlined(limits_, facts);
}

std::vector<HotArc> ArcCollector::Collect(double least_percent) {
  for (uint32_t i = 1; i <= input_.tree.size(); ++i) AddNode(input_.tree.node(NodeId(i)));
  const JitLog::Arcs inlining(input_.jit, [&](RoutineId id) { return calls_.contains(id); });
  int64_t all = 0;
  for (const HotArc& arc : arcs_) all = WrapAdd(all, arc.calls);
  for (HotArc& arc : arcs_) {
    arc.inlining = inlining.Find(arc.caller, arc.callee);
    arc.status = Status(arc);
    if (arc.status == "unknown" || arc.status == "caller not compiled") continue;
    if (PercentOf(arc.calls, all) < least_percent) continue;
    std::vector<NotInlined> places;
    bool is_recursive = false;
    inlining.ForEachNotInlined(arc.caller, arc.callee, [&](const NotInlined& it) {
      places.push_back(it);
      is_recursive = is_recursive || it.callee_above > 0;
    });
    // Of a recursion only the first calls are inlined.
    if (arc.status == "inlined" && arc.inlining.inlined > 0 && is_recursive) arc.status = "partly";
    if (arc.is_left_out()) arc.reason = Reason(arc, std::move(places));
  }
  std::sort(arcs_.begin(), arcs_.end(), [&](const HotArc& a, const HotArc& b) {
    return std::tuple(b.calls, Name(a.caller), Name(a.callee)) <
           std::tuple(a.calls, Name(b.caller), Name(b.callee));
  });
  return std::move(arcs_);
}

}  // namespace

std::vector<HotArc> CollectHotArcs(const ReportInput& input, double least_percent) {
  return ArcCollector(input).Collect(least_percent);
}

}  // namespace jtrace::postproc
