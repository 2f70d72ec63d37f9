#include "postproc/report/hot_arcs.h"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "postproc/report/units.h"
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

namespace {

// Constants of HotSpot's product builds: a body's bytecode (DesiredMethodLimit), and receivers of a
// call site that C2 may inline (TypeProfileWidth with UseBimorphicInlining).
constexpr int64_t kBodyLimit = 8000;
constexpr int64_t kCodeOfFullGraph = 10'000;
constexpr size_t kInlinedReceivers = 2;
constexpr int64_t kFewCalls = 250;  // MinInliningThreshold
constexpr uint32_t kNative = 0x100;
constexpr size_t kShownReceivers = 4;

std::string Number(double value) { return absl::StrFormat("%g", value); }
std::string BytesText(double bytes) { return Counted(static_cast<int64_t>(bytes), "byte"); }

class Derivation {
 public:
  Derivation(const InlineLimits& limits, const ArcFacts& arc)
      : limits_(limits),
        arc_(arc),
        bytecodes_(arc.callee.bytecodes),
        by_c1_(Mostly([](const NotInlined& it) { return it.level != 0 && it.level < kC2Level; })) {}

  InlineReason Get() const;

 private:
  using Found = std::optional<InlineReason>;

  // Holds in at least half of the places.
  template <typename Condition>
  bool Mostly(Condition condition) const {
    const auto number = std::count_if(arc_.places.begin(), arc_.places.end(), condition);
    return number > 0 && static_cast<size_t>(number) * 2 >= arc_.places.size();
  }
  // C1 has its own flags.
  double Limit(std::string_view flag, double of_c2, double of_c1) const {
    return by_c1_ ? limits_.Get(StrCat("C1", flag), of_c1) : limits_.Get(flag, of_c2);
  }
  std::string FlagText(std::string_view flag, double value) const {
    return StrCat(by_c1_ ? "C1" : "", flag, "=", Number(value));
  }
  Found Native() const;
  Found Recursive() const;
  Found Megamorphic() const;
  Found TooDeep() const;
  Found TooBig() const;
  Found OutOfNodes() const;
  Found NotHot() const;
  Found CallerInC1() const;

  const InlineLimits& limits_;
  const ArcFacts& arc_;
  const double bytecodes_;
  const bool by_c1_;
};

Derivation::Found Derivation::Native() const {
  if (!arc_.callee.is_native_wrapper && (arc_.callee.modifiers & kNative) == 0) return {};
  return InlineReason{"native", "the callee is a native method",
                      "call it less often: native code is not inlined"};
}

Derivation::Found Derivation::Recursive() const {
  const double limit = Limit("MaxRecursiveInlineLevel", 1, 1);
  if (!Mostly([&](const NotInlined& it) { return static_cast<double>(it.callee_above) > limit; })) {
    return {};
  }
  return InlineReason{"recursive", FlagText("MaxRecursiveInlineLevel", limit),
                      "make the recursion a loop, or raise -XX:MaxRecursiveInlineLevel"};
}

Derivation::Found Derivation::Megamorphic() const {
  const double major = limits_.Get("TypeProfileMajorReceiverPercent", 90);
  const size_t most = by_c1_ ? 1 : kInlinedReceivers;  // C1 has no profile
  if (arc_.receivers.size() <= most || (!by_c1_ && arc_.receivers[0].percent >= major)) return {};
  std::string classes;
  for (size_t i = 0; i < std::min(arc_.receivers.size(), kShownReceivers); ++i) {
    StrAppend(&classes, i == 0 ? "" : ", ", arc_.receivers[i].class_name,
              absl::StrFormat(" %.0f %%", arc_.receivers[i].percent));
  }
  const size_t left = arc_.receivers.size() - std::min(arc_.receivers.size(), kShownReceivers);
  if (left > 0) StrAppend(&classes, ", … ", left, " more");
  return InlineReason{
      "megamorphic", StrCat(arc_.receivers.size(), " classes: ", classes),
      "test for the most frequent class before the call, or give each class its own "
      "copy of the caller"};
}

Derivation::Found Derivation::TooDeep() const {
  const double limit = Limit("MaxInlineLevel", 15, 9);
  if (!Mostly([&](const NotInlined& it) { return static_cast<double>(it.depth) >= limit; }))
    return {};
  return InlineReason{"too deep", FlagText("MaxInlineLevel", limit),
                      "shorten the chain of calls, or raise -XX:MaxInlineLevel"};
}

Derivation::Found Derivation::TooBig() const {
  const double usual = Limit("MaxInlineSize", 35, 35);
  const double frequent = limits_.Get("FreqInlineSize", 325);
  const bool is_frequent = !by_c1_ && arc_.per_call >= limits_.Get("InlineFrequencyRatio", 0.25);
  if (bytecodes_ > usual && !is_frequent) {
    return InlineReason{
        "too big",
        StrCat(BytesText(bytecodes_), " of bytecode, ", FlagText("MaxInlineSize", usual)),
        by_c1_
            ? "split it, or raise -XX:C1MaxInlineSize"
            : "split it, or raise -XX:MaxInlineSize: not each call of the caller makes this one"};
  }
  if (by_c1_) return {};
  if (bytecodes_ > std::max(usual, frequent)) {
    return InlineReason{
        "too big", StrCat(BytesText(bytecodes_), " of bytecode, FreqInlineSize=", Number(frequent)),
        "move its rare part into another method, or raise -XX:FreqInlineSize"};
  }
  // Its own code, if C2 made it first. At rarely executed calls a quarter is the limit.
  const double code = limits_.Get("InlineSmallCode", 2500) / (is_frequent ? 1 : 4);
  const bool had_code = Mostly([](const NotInlined& it) { return it.callee_was_compiled; });
  if (!had_code || static_cast<double>(arc_.callee.size) <= code) return {};
  return InlineReason{"too big",
                      StrCat(BytesText(static_cast<double>(arc_.callee.size)),
                             " of code, InlineSmallCode", is_frequent ? "=" : "/4=", Number(code)),
                      "split it, or raise -XX:InlineSmallCode"};
}

// C2 stops at a number of bytes of bytecode, and at 18,000 nodes of its graph, which are not known:
// a body of at least that code is taken for one.
Derivation::Found Derivation::OutOfNodes() const {
  const auto is_full = [&](const NotInlined& it) {
    return it.bytecodes + arc_.callee.bytecodes >= kBodyLimit || it.body_size >= kCodeOfFullGraph;
  };
  if (by_c1_ || !Mostly(is_full)) return {};
  const NotInlined& place = *std::find_if(arc_.places.begin(), arc_.places.end(), is_full);
  return InlineReason{
      "out of nodes",
      StrCat("the caller has ", FormatCount(place.bytecodes),
             " bytes of bytecode with what it inlines (limit ", FormatCount(kBodyLimit),
             "), the code ", BytesText(static_cast<double>(place.body_size))),
      "split the caller, so that fewer methods are inlined into it"};
}

Derivation::Found Derivation::NotHot() const {
  const bool is_trivial = bytecodes_ > 0 && bytecodes_ <= limits_.Get("MaxTrivialSize", 6);
  const bool is_rare = arc_.per_call < limits_.Get("MinInlineFrequencyRatio", 0.0085);
  if (!by_c1_ && arc_.callee.loads == 0 && arc_.calls < kFewCalls) {
    return InlineReason{"not hot", Counted(arc_.calls, "call"), "none: this call is rare"};
  }
  if (by_c1_ || is_trivial || !is_rare) return {};
  return InlineReason{
      "not hot",
      StrCat("in ", absl::StrFormat("%.2g %%", arc_.per_call * 100), " of the caller's calls"),
      "none: the caller seldom makes this call"};
}

Derivation::Found Derivation::CallerInC1() const {
  if (!by_c1_) return {};
  return InlineReason{"not hot", "the caller's last code is C1's",
                      "none: C2 has not compiled the caller, which runs too rarely"};
}

// In the order in which C2 decides, as far as it is known.
InlineReason Derivation::Get() const {
  for (const auto reason : {&Derivation::Native, &Derivation::Megamorphic, &Derivation::TooBig,
                            &Derivation::NotHot, &Derivation::Recursive, &Derivation::TooDeep,
                            &Derivation::OutOfNodes, &Derivation::CallerInC1}) {
    if (Found found = (this->*reason)(); found.has_value()) return *std::move(found);
  }
  return {"unknown", "", "run with -XX:+UnlockDiagnosticVMOptions -XX:+PrintInlining"};
}

}  // namespace

double InlineLimits::Get(std::string_view flag, double otherwise) const {
  for (const TraceInfo& trace : model_.traces()) {
    double value;
    if (ParseDouble(trace.Fact(StrCat("flag.", flag)), value)) return value;
  }
  return otherwise;
}

std::string_view InlineReason::basis() const {
  return reason.empty() || reason == "unknown" ? reason : "derived";
}

InlineReason WhyNotInlined(const InlineLimits& limits, const ArcFacts& arc) {
  return Derivation(limits, arc).Get();
}

}  // namespace jtrace::postproc
