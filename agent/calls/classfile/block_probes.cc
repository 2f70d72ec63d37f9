#include "agent/calls/classfile/block_probes.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "agent/calls/classfile/probe_planner.h"
#include "common/classfile/opcodes.h"

namespace jtrace::classfile {
namespace {

constexpr uint32_t kGotoSize = 3;
constexpr uint32_t kCallSize = 3;

bool IsConstructor(const BlockInput& input) {
  return input.method.name == "<init>" && !input.file.super_name.empty();
}

// Sets of nodes that the spanning tree connects so far.
class NodeSets {
 public:
  explicit NodeSets(size_t nodes) : parent_(nodes) {
    std::iota(parent_.begin(), parent_.end(), 0u);
  }
  // False if they were connected.
  bool Join(uint32_t a, uint32_t b) {
    a = Find(a);
    b = Find(b);
    parent_[a] = b;
    return a != b;
  }

 private:
  uint32_t Find(uint32_t node) {
    while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
    return node;
  }
  std::vector<uint32_t> parent_;
};

// Guesses of how often edges run.
class Weights {
 public:
  Weights(const FlowGraph& graph, Bytes code)
      : graph_(graph), depth_(graph.blocks.size() + 1), is_cold_(graph.blocks.size() + 1, 1) {
    MarkLoops();
    MarkUsual();
    for (uint32_t node = 1; node < depth_.size(); ++node) {
      if (code[graph.block(node).last] == kOpAthrow) is_cold_[node] = 1;
    }
  }

  uint64_t OfEdge(const FlowGraph::Edge& edge) const {
    if (!graph_.PlaceOf(edge)) return std::numeric_limits<uint64_t>::max();
    if (is_cold_[edge.from] != 0 || is_cold_[edge.to] != 0) return 1;
    return Usual(std::min(depth_[edge.from], depth_[edge.to]));
  }
  uint64_t OfBlock(uint32_t node) const {
    return is_cold_[node] != 0 ? 1 : Usual(depth_[node]) + 1;
  }

 private:
  static uint64_t Usual(uint32_t depth) {
    constexpr uint32_t kLoopShift = 3;
    constexpr uint32_t kMostDepth = 15;
    constexpr uint64_t kOnce = 4;
    return kOnce << (kLoopShift * std::min(depth, kMostDepth));
  }
  // A jump back, and everything between it and its target, is a loop.
  void MarkLoops() {
    for (const FlowGraph::Edge& edge : graph_.edges) {
      if (edge.kind != EdgeKind::kJump || edge.to > edge.from) continue;
      for (uint32_t node = edge.to; node <= edge.from; ++node) ++depth_[node];
    }
  }
  // Blocks that run without an exception. Edges are in the order of their origins, so that only
  // jumps back need another round.
  void MarkUsual() {
    is_cold_[FlowGraph::kOutside] = is_cold_[1] = 0;
    for (bool again = true; again;) {
      again = false;
      for (const FlowGraph::Edge& edge : graph_.edges) {
        if (edge.from == FlowGraph::kOutside || is_cold_[edge.from] != 0) continue;
        again |= is_cold_[edge.to] != 0 && edge.to < edge.from;
        is_cold_[edge.to] = 0;
      }
    }
  }

  const FlowGraph& graph_;
  std::vector<uint32_t> depth_;
  std::vector<uint8_t> is_cold_;
};

// JVMS 6.5: the first and last opcodes of groups.
constexpr uint8_t kIaload = 46;
constexpr uint8_t kSaload = 53;
constexpr uint8_t kIastore = 79;
constexpr uint8_t kSastore = 86;
constexpr uint8_t kIdiv = 108;
constexpr uint8_t kLdiv = 109;
constexpr uint8_t kIrem = 112;
constexpr uint8_t kLrem = 113;
constexpr uint8_t kMonitorenter = 194;

// Whether something is ever stored into local variable 0.
bool StoresIntoFirstLocal(Bytes code) {
  for (size_t at = 0; at < code.size(); at += InstructionLength(code, at)) {
    const uint8_t opcode = code[at];
    if (opcode == kOpAstore0 || (opcode == kOpAstore && code[at + 1] == 0) || opcode == kOpWide) {
      return true;
    }
  }
  return false;
}

class PointFinder {
 public:
  PointFinder(const ClassFile& file, const MethodInfo& method, const CodeAttribute& code)
      : file_(file),
        code_(code.code),
        first_is_this_((method.access & kAccStatic) == 0 && !StoresIntoFirstLocal(code.code)) {}

  // `follows_this`: the instruction before it, in the same block, pushed local variable 0.
  bool MayThrow(uint32_t bci, bool follows_this) const {
    const uint8_t opcode = code_[bci];
    switch (opcode) {
      case kOpLdc:
        return !file_.pool.IsPlainValue(code_[bci + 1]);
      case kOpLdcW:
      case kOpLdc2W:
        return !file_.pool.IsPlainValue(LoadU2(code_.data() + bci + 1));
      case kOpGetstatic:
      case kOpPutstatic:
        return !IsOwnStatic(bci);
      case kOpGetfield:
        return !(follows_this && first_is_this_ && IsOwn(bci));
      case kIdiv:
      case kLdiv:
      case kIrem:
      case kLrem:
      case kMonitorenter:
      case kOpMultianewarray:
        return true;
      default:
        return (opcode >= kIaload && opcode <= kSaload) ||
               (opcode >= kIastore && opcode <= kSastore) ||
               (opcode >= kOpPutfield && opcode <= kOpInstanceof);
    }
  }

 private:
  bool IsOwn(uint32_t bci) const {
    const auto field = file_.pool.Field(LoadU2(code_.data() + bci + 1));
    return field && field->class_name == file_.this_name;
  }
  bool IsOwnStatic(uint32_t bci) const {
    const auto field = file_.pool.Field(LoadU2(code_.data() + bci + 1));
    return field && field->class_name == file_.this_name &&
           std::find(file_.static_fields.begin(), file_.static_fields.end(), field->name) !=
               file_.static_fields.end();
  }

  const ClassFile& file_;
  const Bytes code_;
  const bool first_is_this_;
};

}  // namespace

bool BlockProbes::Plan(const BlockInput& input, ConstantPoolBuilder& pool) {
  by_path_ = input.by_path;
  throw_size_ = input.throw_size;
  groups_.clear();
  handler_places_.clear();
  const std::optional<FlowGraph> graph = MakeFlowGraph(input.code, {});
  if (!graph.has_value()) return false;
  points_ = ThrowingPoints(input.file, input.method, input.code, *graph);
  if (!CheckHandlers(input, *graph) || !ReadHandlerLocals(input, pool)) return false;
  uint32_t from = 0;
  if (IsConstructor(input)) {
    const auto end = EndOfSuperCall(input.file, input.code, input.editor);
    from = end.value_or(static_cast<uint32_t>(input.code.code.size()));
  }
  std::vector<uint32_t> thrown, splits;
  for (const uint32_t point : points_) {
    const bool counts = point >= from && AddToGroup(input, point);
    (counts ? thrown : splits).push_back(point);
  }
  auto plan = PlanCounters(input.code, thrown, splits, input.count_entry);
  if (!plan.has_value()) return false;
  plan_ = *std::move(plan);
  IndexCounters();
  return true;
}

// A handler's block is counted after the instructions in which it covers itself: they must be of
// that block, and not throw.
bool BlockProbes::CheckHandlers(const BlockInput& input, const FlowGraph& graph) {
  for (const ExceptionRow& row : input.code.exceptions) {
    const uint32_t place = ResumeBci(row.handler, input.code);
    if (graph.NodeOf(place) != graph.NodeOf(row.handler)) return false;
    const auto point = std::lower_bound(points_.begin(), points_.end(), row.handler);
    if (point != points_.end() && *point < place) return false;
    handler_places_.emplace_back(row.handler, place);
  }
  return true;
}

bool BlockProbes::ReadHandlerLocals(const BlockInput& input, ConstantPoolBuilder& pool) {
  handler_locals_.clear();
  if (input.stack_map.empty()) return true;
  StackFrameReader reader;
  if (reader.Begin(input.stack_map, input.frames, pool) != Reason::kNone) return false;
  while (reader.Next()) {
    const auto is_here = [&](const ExceptionRow& row) { return row.handler == reader.bci(); };
    if (std::any_of(input.code.exceptions.begin(), input.code.exceptions.end(), is_here)) {
      handler_locals_.push_back({static_cast<uint32_t>(reader.bci()), reader.locals()});
    }
  }
  return reader.AtEnd();
}

bool BlockProbes::AddToGroup(const BlockInput& input, uint32_t point) {
  std::vector<ExceptionRow> rows;
  for (const ExceptionRow& row : input.code.exceptions) {
    if (row.start <= point && point < row.end) rows.push_back(row);
  }
  const auto handles_same = [](const ExceptionRow& a, const ExceptionRow& b) {
    return a.handler == b.handler && a.catch_type == b.catch_type;
  };
  const auto group = std::find_if(groups_.begin(), groups_.end(), [&](const Group& known) {
    return std::equal(rows.begin(), rows.end(), known.rows.begin(), known.rows.end(), handles_same);
  });
  if (group != groups_.end()) {
    group->points.push_back(point);
    return true;
  }
  auto locals = LocalsFor(input, rows);
  if (!locals.has_value()) return false;
  groups_.push_back({std::move(rows), *std::move(locals), {point}, {}});
  return true;
}

// Locals that every handler finds, and every instruction that they cover has.
std::optional<std::vector<VerificationType>> BlockProbes::LocalsFor(
    const BlockInput& input, absl::Span<const ExceptionRow> rows) const {
  std::vector<VerificationType> locals;
  if (rows.empty() || !input.needs_frames) return locals;
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto found =
        std::find_if(handler_locals_.begin(), handler_locals_.end(),
                     [&](const HandlerLocals& handler) { return handler.bci == rows[i].handler; });
    if (found == handler_locals_.end()) return std::nullopt;
    if (i == 0) {
      locals = found->locals;
      continue;
    }
    auto common = CommonLocals(locals, found->locals, input.file.pool);
    if (!common.has_value()) return std::nullopt;
    locals = *std::move(common);
  }
  return locals;
}

void BlockProbes::IndexCounters() {
  for (Group& group : groups_) {
    for (const uint32_t point : group.points) {
      const CounterPlace place = {CounterKind::kThrow, static_cast<uint16_t>(point)};
      const auto found = std::lower_bound(plan_.places.begin(), plan_.places.end(), place, Before);
      group.counters.push_back(static_cast<uint32_t>(found - plan_.places.begin()));
    }
  }
}

void BlockProbes::ForEachInsertion(absl::FunctionRef<void(uint32_t, bool, uint32_t)> f) const {
  for (uint32_t i = 0; i < plan_.places.size(); ++i) {
    const CounterPlace& place = plan_.places[i];
    if (place.kind == CounterKind::kFall) f(place.bci, true, i);
    if (place.kind != CounterKind::kBlock) continue;
    const auto handler = std::find_if(handler_places_.begin(), handler_places_.end(),
                                      [&](const auto& at) { return at.first == place.bci; });
    f(handler != handler_places_.end() ? handler->second : place.bci, false, i);
  }
}

uint32_t BlockProbes::SizeOf(const Group& group) const {
  const auto points = static_cast<uint32_t>(group.points.size());
  return points * kPushIdSize + (points - 1) * kGotoSize + kCallSize + throw_size_;
}

void BlockProbes::ForEachGroup(uint32_t begin,
                               absl::FunctionRef<void(const Group&, uint32_t)> f) const {
  for (const Group& group : groups_) {
    f(group, begin);
    begin += SizeOf(group);
  }
}

uint32_t BlockProbes::tail_size() const {
  uint32_t size = 0;
  for (const Group& group : groups_) size += SizeOf(group);
  return size;
}

void BlockProbes::WriteTails(const ProbeCode& probes, ByteWriter& out,
                             absl::FunctionRef<void(uint32_t, size_t)> on_id) const {
  const size_t begin = out.size();
  ForEachGroup(0, [&](const Group& group, uint32_t) {
    for (size_t left = group.points.size(); left > 0; --left) {
      on_id(group.counters[group.points.size() - left], out.size() - begin);
      for (uint32_t n = kPushIdSize; n > 0; --n) out.U1(0);
      if (left == 1) break;
      out.U1(kOpGoto);
      out.U2(kGotoSize + static_cast<uint32_t>(left - 2) * (kPushIdSize + kGotoSize) + kPushIdSize);
    }
    out.Append(probes.hit_call.bytes());
    out.Append(probes.rethrow);
  });
}

size_t BlockProbes::rows(bool catch_all) const {
  size_t rows = 0;
  for (const Group& group : groups_) {
    rows += group.points.size() + group.rows.size() + (catch_all ? 1 : 0);
  }
  return rows;
}

void BlockProbes::WriteFirstRows(const CodeEditor& editor, uint32_t begin, ByteWriter& out) const {
  ForEachGroup(begin, [&](const Group& group, uint32_t at) {
    for (const uint32_t point : group.points) {
      const uint32_t moved = editor.Moved(point);
      out.U2(moved);
      // No jump or switch: as long as before.
      out.U2(moved + static_cast<uint32_t>(InstructionLength(editor.code(), point)));
      out.U2(at);
      out.U2(0);
      at += kPushIdSize + kGotoSize;
    }
  });
}

void BlockProbes::WriteLastRows(const CodeEditor& editor, uint32_t begin, bool catch_all,
                                ByteWriter& out) const {
  const uint32_t end = begin + tail_size();
  ForEachGroup(begin, [&](const Group& group, uint32_t at) {
    const auto add = [&](uint32_t handler, uint16_t type) {
      out.U2(at);
      out.U2(at + SizeOf(group));
      out.U2(handler);
      out.U2(type);
    };
    for (const ExceptionRow& row : group.rows) add(editor.PlaceOf(row.handler), row.catch_type);
    if (catch_all) add(end, 0);
  });
}

void BlockProbes::AddFrames(uint32_t begin, uint16_t throwable,
                            std::vector<AddedFrame>& frames) const {
  const VerificationType exception = {VerificationType::kObject, throwable};
  ForEachGroup(begin, [&](const Group& group, uint32_t at) {
    for (size_t i = 0; i < group.points.size(); ++i) {
      frames.push_back({at, group.locals, {exception}});
      at += kPushIdSize + (i + 1 < group.points.size() ? kGotoSize : 0);
    }
    if (group.points.size() == 1) return;
    frames.push_back({at, group.locals, {exception, {VerificationType::kInteger}}});
  });
}

std::optional<std::vector<VerificationType>> CommonLocals(absl::Span<const VerificationType> a,
                                                          absl::Span<const VerificationType> b,
                                                          const ConstantPool& pool) {
  using Type = VerificationType;
  // Slot by slot: a long in one list may stand beside two entries of the other.
  const auto slots_of = [](absl::Span<const VerificationType> types) {
    std::vector<Type> slots;
    for (const Type& type : types) {
      slots.push_back(type);
      if (type.slots() == 2) slots.push_back({Type::kTop, 1});
    }
    return slots;
  };
  std::vector<Type> x = slots_of(a), y = slots_of(b);
  x.resize(std::max(x.size(), y.size()) + 1);
  y.resize(x.size());
  const auto is_object = [&](const Type& type) {
    return type.tag == Type::kObject && pool.ClassName(type.data) == "java/lang/Object";
  };
  std::vector<Type> common;
  for (size_t i = 0; i < x.size(); ++i) {
    Type type = x[i];
    if (x[i].tag == Type::kTop && y[i].tag != Type::kTop) {
      type = y[i];
    } else if (y[i].tag != Type::kTop && x[i] != y[i]) {
      const bool both = x[i].tag == Type::kObject && y[i].tag == Type::kObject;
      if (!both || (!is_object(x[i]) && !is_object(y[i]))) return std::nullopt;
      type = is_object(x[i]) ? y[i] : x[i];
    }
    if (i + 1 == x.size()) break;  // one more than either has
    common.push_back({type.tag, type.tag == Type::kTop ? uint16_t{0} : type.data});
    if (type.slots() != 2) continue;
    if (++i >= x.size() || x[i].tag != Type::kTop || y[i].tag != Type::kTop) return std::nullopt;
  }
  return common;
}

std::optional<CounterPlan> PlanCounters(const CodeAttribute& code,
                                        absl::Span<const uint32_t> thrown,
                                        absl::Span<const uint32_t> splits, bool count_entry) {
  const std::optional<FlowGraph> graph = MakeFlowGraph(code, splits);
  if (!graph.has_value()) return std::nullopt;
  const Weights weights(*graph, code.code);
  // A block is an edge too: between the nodes where control arrives and where it leaves.
  struct Candidate {
    uint64_t weight;
    uint32_t from, to;
    std::optional<CounterPlace> place;
  };
  const auto arrives = [](uint32_t node) { return 2 * node; };
  const auto leaves = [](uint32_t node) { return node == 0 ? 0 : 2 * node - 1; };
  CounterPlan plan;
  std::vector<Candidate> edges;
  for (const FlowGraph::Edge& edge : graph->edges) {
    if (edge.kind == EdgeKind::kEntry) {
      if (count_entry) plan.places.push_back(*graph->PlaceOf(edge));
      continue;
    }
    edges.push_back(
        {weights.OfEdge(edge), leaves(edge.from), arrives(edge.to), graph->PlaceOf(edge)});
  }
  for (uint32_t node = 1; node <= graph->blocks.size(); ++node) {
    const auto begin = static_cast<uint16_t>(graph->block(node).begin);
    edges.push_back({weights.OfBlock(node), arrives(node), leaves(node),
                     CounterPlace{CounterKind::kBlock, begin}});
  }
  std::stable_sort(edges.begin(), edges.end(),
                   [](const Candidate& a, const Candidate& b) { return a.weight > b.weight; });
  plan.blocks = static_cast<uint32_t>(graph->blocks.size() - splits.size());
  NodeSets connected(2 * graph->blocks.size() + 1);
  for (const Candidate& edge : edges) {
    if (connected.Join(edge.from, edge.to)) continue;
    if (!edge.place.has_value()) return std::nullopt;
    plan.places.push_back(*edge.place);
  }
  for (const uint32_t bci : thrown) {
    plan.places.push_back({CounterKind::kThrow, static_cast<uint16_t>(bci)});
  }
  plan.throws = static_cast<uint32_t>(thrown.size());
  plan.counters = static_cast<uint32_t>(plan.places.size());
  for (const uint32_t bci : splits) {
    plan.places.push_back({CounterKind::kSplit, static_cast<uint16_t>(bci)});
  }
  std::sort(plan.places.begin(), plan.places.end(), Before);
  return plan;
}

std::vector<uint32_t> ThrowingPoints(const ClassFile& file, const MethodInfo& method,
                                     const CodeAttribute& code, const FlowGraph& graph) {
  const PointFinder finder(file, method, code);
  std::vector<uint32_t> points;
  for (const FlowGraph::Block& block : graph.blocks) {
    bool follows_this = false;
    for (uint32_t at = block.begin; at < block.end;
         at += static_cast<uint32_t>(InstructionLength(code.code, at))) {
      if (finder.MayThrow(at, follows_this)) points.push_back(at);
      follows_this = code.code[at] == kOpAload0;
    }
  }
  return points;
}

}  // namespace jtrace::classfile
