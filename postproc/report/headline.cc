#include "postproc/report/headline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "postproc/report/program_code.h"
#include "postproc/report/thread_order.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

class HeadlineMaker {
 public:
  HeadlineMaker(const ReportInput& input, size_t most) : input_(input), most_(most), code_(input) {}

  Headline Make() {
    if (input_.measure().is_more_than_calls()) {
      for (const NodeId root : input_.tree.roots()) SpendTree(root);
      for (Consumption& consumer : headline_.consumers) KeepGreatest(consumer);
      headline_.heaviest = Heaviest(input_.measure().base);
    }
    const std::vector<std::string> names = MeasureNames(input_.model, input_.tree);
    if (std::find(names.begin(), names.end(), "alloc.bytes") != names.end()) {
      headline_.allocating = Heaviest(MakeMeasure("alloc.bytes", input_.model, input_.tree).base);
    }
    FindMostCalled();
    return std::move(headline_);
  }

 private:
  Consumer ConsumerOf(RoutineId routine) const;
  std::string PartOf(Consumer consumer, RoutineId routine) const;
  void SpendTree(NodeId root);
  void KeepGreatest(Consumption& consumer) const;
  // By node, of the first ones: the nearest one that is the program's, the node itself included,
  // and its child that leads to the node, if that is not the program's. None: no such.
  struct Owner {
    NodeId method;
    NodeId callee;
  };
  std::vector<Owner> Owners(size_t nodes) const;
  std::vector<HeavyMethod> Heaviest(const PrefixColumn<int64_t>& base) const;
  void FindCallees(const PrefixColumn<int64_t>& base, const std::vector<Owner>& owners,
                   std::vector<HeavyMethod>& methods) const;
  std::vector<RoutineId> CallersOf(NodeId node) const;
  void FindMostCalled();

  const ReportInput& input_;
  const size_t most_;
  const ProgramCode code_;
  absl::flat_hash_map<std::string, int64_t> parts_[kConsumers];
  Headline headline_;
};

Consumer HeadlineMaker::ConsumerOf(RoutineId routine) const {
  if (!routine) return Consumer::kUnknown;
  switch (code_.KindOf(routine)) {
    case 'N':
    case 'n':
      return code_.IsAgent(routine) ? Consumer::kJtrace : Consumer::kNative;
    case 'V':
      return Consumer::kVm;
    case 'K':
      return Consumer::kKernel;
    case 'm':
      return code_.IsProbe(routine) ? Consumer::kJtrace : Consumer::kUnknown;
    default:
      return code_.IsProgram(routine) ? Consumer::kProgram : Consumer::kJdk;
  }
}

std::string HeadlineMaker::PartOf(Consumer consumer, RoutineId routine) const {
  if (!routine) return "";
  if (consumer == Consumer::kProgram || consumer == Consumer::kJdk) {
    return LibraryOf(input_.model.RoutineName(routine));
  }
  if (consumer == Consumer::kUnknown) return std::string(input_.model.RoutineName(routine));
  return consumer == Consumer::kNative ? std::string(code_.ModuleOf(routine)) : "";
}

void HeadlineMaker::SpendTree(NodeId root) {
  const ThreadInfo& thread = input_.model.thread(input_.tree.node(root).thread);
  const Consumer of_thread = ConsumerOfTree(input_, root);
  std::vector<NodeId> pending = {root};
  while (!pending.empty()) {
    const NodeId at = pending.back();
    pending.pop_back();
    const CallNode& node = input_.tree.node(at);
    for (NodeId child = node.first_child; child; child = input_.tree.node(child).next_sibling) {
      pending.push_back(child);
    }
    const int64_t amount = input_.measure().Base(at);
    if (amount == 0) continue;
    const Consumer consumer =
        of_thread == Consumer::kProgram ? ConsumerOf(node.routine) : of_thread;
    const auto index = static_cast<size_t>(consumer);
    headline_.consumers[index].amount = WrapAdd(headline_.consumers[index].amount, amount);
    const std::string part = IsOfProgram(consumer)                 ? PartOf(consumer, node.routine)
                             : consumer == Consumer::kOtherThreads ? thread.name
                                                                   : std::string();
    if (!part.empty()) {
      int64_t& sum = parts_[index][part];
      sum = WrapAdd(sum, amount);
    }
  }
}

void HeadlineMaker::KeepGreatest(Consumption& consumer) const {
  const auto& parts = parts_[&consumer - headline_.consumers];
  for (const auto& [name, amount] : parts) consumer.parts.push_back({name, amount});
  std::sort(consumer.parts.begin(), consumer.parts.end(), [](const auto& a, const auto& b) {
    return a.amount != b.amount ? a.amount > b.amount : a.name < b.name;
  });
  if (consumer.parts.size() > most_) consumer.parts.resize(most_);
}

std::vector<HeadlineMaker::Owner> HeadlineMaker::Owners(size_t nodes) const {
  std::vector<Owner> owners(nodes);
  // Nodes follow their parents.
  for (uint32_t i = 1; i <= owners.size(); ++i) {
    const NodeId id(i);
    const CallNode& node = input_.tree.node(id);
    if (node.routine && code_.IsProgram(node.routine)) {
      owners[i - 1].method = id;
    } else if (node.parent) {
      owners[i - 1] = owners[node.parent.value - 1];
      if (!owners[i - 1].callee) owners[i - 1].callee = id;
    }
  }
  return owners;
}

std::vector<HeavyMethod> HeadlineMaker::Heaviest(const PrefixColumn<int64_t>& base) const {
  const std::vector<Owner> owners = Owners(base.size());
  std::vector<int64_t> by_node(owners.size());
  for (uint32_t i = 0; i < owners.size(); ++i) {
    // The agent's own time makes no method heavier.
    const NodeId method = owners[i].method;
    if (!method || code_.IsProbe(input_.tree.node(NodeId(i + 1)).routine)) continue;
    by_node[method.value - 1] = WrapAdd(by_node[method.value - 1], base[i]);
  }
  struct Sum {
    int64_t own = 0;
    NodeId greatest;
  };
  absl::flat_hash_map<RoutineId, Sum> sums;
  for (uint32_t i = 1; i <= by_node.size(); ++i) {
    if (by_node[i - 1] == 0) continue;
    Sum& sum = sums[input_.tree.node(NodeId(i)).routine];
    sum.own = WrapAdd(sum.own, by_node[i - 1]);
    if (!sum.greatest || by_node[i - 1] > by_node[sum.greatest.value - 1]) {
      sum.greatest = NodeId(i);
    }
  }
  struct Ranked {
    const FlatRow* row;
    Sum sum;
  };
  std::vector<Ranked> ranked;
  for (const FlatRow& row : input_.flat().rows()) {
    const auto sum = sums.find(row.routine);
    if (row.is_root || sum == sums.end() || sum->second.own <= 0) continue;
    ranked.push_back({&row, sum->second});
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.sum.own > b.sum.own; });
  if (ranked.size() > most_) ranked.resize(most_);
  std::vector<HeavyMethod> methods;
  methods.reserve(ranked.size());
  for (const auto& [row, sum] : ranked) {
    methods.push_back({.routine = row->routine,
                       .own = sum.own,
                       .calls = row->calls,
                       .callers = CallersOf(sum.greatest)});
  }
  FindCallees(base, owners, methods);
  return methods;
}

void HeadlineMaker::FindCallees(const PrefixColumn<int64_t>& base, const std::vector<Owner>& owners,
                                std::vector<HeavyMethod>& methods) const {
  absl::flat_hash_map<RoutineId, absl::flat_hash_map<RoutineId, int64_t>> amounts;
  for (const HeavyMethod& method : methods) amounts[method.routine];
  for (size_t i = 0; i < owners.size(); ++i) {
    if (base[i] == 0 || !owners[i].method || !owners[i].callee) continue;
    const auto of_method = amounts.find(input_.tree.node(owners[i].method).routine);
    const RoutineId callee = input_.tree.node(owners[i].callee).routine;
    if (of_method == amounts.end() || code_.IsProbe(callee)) continue;
    int64_t& amount = of_method->second[callee];
    amount = WrapAdd(amount, base[i]);
  }
  for (HeavyMethod& method : methods) {
    for (const auto& [callee, amount] : amounts[method.routine]) {
      if (amount > method.of_callee ||
          (amount == method.of_callee && method.callee && callee.value < method.callee.value)) {
        method.callee = callee;
        method.of_callee = amount;
      }
    }
  }
}

std::vector<RoutineId> HeadlineMaker::CallersOf(NodeId node) const {
  std::vector<RoutineId> callers;
  RoutineId below = input_.tree.node(node).routine;
  for (NodeId at = input_.tree.node(node).parent; at; at = input_.tree.node(at).parent) {
    const RoutineId routine = input_.tree.node(at).routine;
    if (!routine || routine == below || !code_.IsProgram(routine)) continue;
    callers.push_back(below = routine);
  }
  return callers;
}

void HeadlineMaker::FindMostCalled() {
  std::vector<const FlatRow*> rows;
  for (const FlatRow& row : input_.flat().rows()) {
    if (!row.is_root && row.calls > 0 && code_.IsProgram(row.routine)) rows.push_back(&row);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const FlatRow* a, const FlatRow* b) { return a->calls > b->calls; });
  if (rows.size() > most_) rows.resize(most_);
  for (const FlatRow* row : rows) {
    NodeId most = input_.tree.first_instance(row->routine);
    for (NodeId at = most; at; at = input_.tree.next_instance(at)) {
      if (input_.tree.node(at).calls > input_.tree.node(most).calls) most = at;
    }
    headline_.most_called.push_back(
        {.routine = row->routine, .calls = row->calls, .callers = CallersOf(most)});
  }
}

}  // namespace

// HotSpot's names of its threads, of which Linux keeps 15 characters.
Consumer ConsumerOfThread(const ThreadInfo& thread, bool has_events) {
  const JvmThread kind = JvmThreadOf(thread.name);
  if (kind == JvmThread::kJtrace) return Consumer::kJtrace;
  if (has_events) return Consumer::kProgram;
  if (kind == JvmThread::kJit) return Consumer::kJit;
  if (kind == JvmThread::kCollector) return Consumer::kCollector;
  return thread.is_vm_internal ? Consumer::kOtherThreads : Consumer::kProgram;
}

Consumer ConsumerOfTree(const ReportInput& input, NodeId root) {
  return ConsumerOfThread(input.model.thread(input.tree.node(root).thread), HasEvents(input, root));
}

std::string_view ConsumerName(Consumer consumer) {
  constexpr std::string_view kNames[kConsumers] = {
      "program", "jdk", "jtrace", "native", "vm", "kernel", "unknown", "jit", "collector", "other"};
  return kNames[static_cast<size_t>(consumer)];
}

Headline MakeHeadline(const ReportInput& input, size_t most) {
  return HeadlineMaker(input, most).Make();
}

namespace {

using ByCompiler = std::array<int64_t, JitLog::kCompilers>;

bool IsOfJtrace(std::string_view routine) {
  return routine.starts_with("java.lang.invoke.JTrace") || routine.starts_with("jtrace.");
}

// What a rewritten method has more than before: the calls of the probes, their arguments and an
// exception handler, where there is one return and no call out of scope; but a method keeps its
// own.
int64_t BytesInserted(const JitLog::Copies& copies) {
  constexpr int64_t kInserted = 16;
  return std::min(copies.copies * kInserted, copies.bytecodes - copies.copies);
}

// The amounts of C1's threads and of C2's.
ByCompiler CompilersAmounts(const ReportInput& input) {
  ByCompiler amounts = {};
  for (const NodeId root : input.tree.roots()) {
    if (ConsumerOfTree(input, root) != Consumer::kJit) continue;
    const std::string_view name = input.model.thread(input.tree.node(root).thread).name;
    int64_t& amount = amounts[name.starts_with("C1") ? 0 : 1];
    amount = WrapAdd(amount, input.measure().Cum(root));
  }
  return amounts;
}

}  // namespace

int64_t EstimatedProbeCompilation(const ReportInput& input) {
  ByCompiler all = {};
  ByCompiler of_probes = {};
  for (const auto& [routine, copies] : input.jit.compiled_bytecodes()) {
    const bool is_probe = IsOfJtrace(input.model.RoutineName(routine));
    const bool has_probes = input.model.scope().contains(routine);
    for (size_t i = 0; i < JitLog::kCompilers; ++i) {
      const JitLog::Copies& it = copies[i];
      all[i] = WrapAdd(all[i], it.bytecodes);
      const int64_t own = is_probe ? it.bytecodes : has_probes ? BytesInserted(it) : 0;
      of_probes[i] = WrapAdd(of_probes[i], own);
    }
  }
  if (!input.measure().is_more_than_calls()) return 0;
  const ByCompiler amounts = CompilersAmounts(input);
  double estimate = 0;
  for (size_t i = 0; i < JitLog::kCompilers; ++i) {
    if (all[i] <= 0 || of_probes[i] <= 0 || amounts[i] <= 0) continue;
    estimate += static_cast<double>(amounts[i]) * static_cast<double>(of_probes[i]) /
                static_cast<double>(all[i]);
  }
  return std::llround(estimate);
}

}  // namespace jtrace::postproc
