#include "postproc/lines/flow_solver.h"

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "agent/calls/classfile/counter_plan.h"
#include "common/classfile/opcodes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "postproc/lines/flow_weights.h"

namespace jtrace::postproc {
namespace {

using classfile::CodeAttribute;
using classfile::CounterKind;
using classfile::CounterPosition;
using classfile::ExceptionRow;

constexpr uint8_t kNop = classfile::kOpNop;
constexpr uint8_t kReturn = classfile::kOpReturn;
constexpr uint8_t kThrow = classfile::kOpAthrow;

// A method of one-byte instructions, jumps and switches.
struct TestCode {
  std::vector<uint8_t> bytes;
  std::vector<ExceptionRow> rows;

  CodeAttribute attribute() const {
    CodeAttribute code;
    code.code = bytes;
    code.exceptions = rows;
    return code;
  }
};

// Runs code at random, and counts what happens.
class Machine {
 public:
  Machine(const TestCode& code, const std::vector<CounterPosition>& places,
          const std::vector<uint32_t>& points, uint32_t seed)
      : code_(code), places_(places), points_(points), random_(seed) {}

  std::map<uint32_t, int64_t> began;                       // by bci
  std::map<std::pair<uint32_t, uint32_t>, int64_t> jumps;  // from and to, falling through included
  std::map<std::pair<uint16_t, CounterKind>, int64_t> counters;
  std::map<uint16_t, int64_t> open;

  // One call, cut off after so many instructions.
  void Call(int most) {
    uint32_t at = 0;
    Count(CounterKind::kFall, 0);
    for (int n = 0;; ++n) {
      Count(CounterKind::kBlock, at);
      ++began[at];
      const bool is_point = std::binary_search(points_.begin(), points_.end(), at);
      if (n >= most) return void(++open[static_cast<uint16_t>(at)]);
      const uint8_t opcode = code_.bytes[at];
      if (opcode == kThrow || (is_point && Chance(8))) {
        Count(CounterKind::kThrow, at);
        const std::optional<uint32_t> handler = HandlerOf(at);
        if (!handler) return;
        at = *handler;
        continue;
      }
      if (opcode == kReturn) return;
      at = Next(at);
    }
  }

 private:
  bool Chance(uint32_t one_in) { return random_() % one_in == 0; }
  void Count(CounterKind kind, uint32_t bci) {
    const CounterPosition place = {kind, static_cast<uint16_t>(bci)};
    if (std::find(places_.begin(), places_.end(), place) != places_.end()) {
      ++counters[{place.bci, kind}];
    }
  }
  // One that covers it: its type decides, and here chance.
  std::optional<uint32_t> HandlerOf(uint32_t at) {
    for (const ExceptionRow& row : code_.rows) {
      if (row.start <= at && at < row.end && !Chance(3)) return row.handler;
    }
    return std::nullopt;
  }
  uint32_t Next(uint32_t at) {
    const classfile::Bytes code = code_.bytes;
    const auto after = at + static_cast<uint32_t>(classfile::InstructionLength(code, at));
    uint32_t next = after;
    const uint8_t opcode = code[at];
    if (opcode == classfile::kOpTableswitch) {
      const classfile::SwitchTable table = classfile::ParseSwitch(code, at);
      const size_t choice = random_() % (table.count + 1);
      const size_t offset = choice == 0 ? table.operands : table.first + (choice - 1) * 4;
      next = at + classfile::LoadU4(code.data() + offset);
      ++jumps[{at, next}];
      return next;
    }
    const bool is_goto = opcode == classfile::kOpGoto;
    if (is_goto || (opcode == classfile::kOpIfeq && Chance(2))) {
      next =
          at + static_cast<uint32_t>(static_cast<int16_t>(classfile::LoadU2(code.data() + at + 1)));
      ++jumps[{at, next}];
      return next;
    }
    ++jumps[{at, next}];
    Count(CounterKind::kFall, next);
    return next;
  }

  const TestCode& code_;
  const std::vector<CounterPosition>& places_;
  const std::vector<uint32_t>& points_;
  std::mt19937 random_;
};

// Random methods whose jumps lead anywhere.
TestCode RandomCode(std::mt19937& random) {
  TestCode code;
  std::vector<uint32_t> starts, jumps;
  const uint32_t length = 3 + random() % 40;
  for (uint32_t i = 0; i < length; ++i) {
    const auto at = static_cast<uint32_t>(code.bytes.size());
    starts.push_back(at);
    switch (random() % 8) {
      case 0:
      case 1:
      case 2:
        code.bytes.push_back(classfile::kOpIfeq);
        break;
      case 3:
        code.bytes.push_back(classfile::kOpGoto);
        break;
      case 4:
        if (random() % 3 == 0)
          code.bytes.push_back(classfile::kOpTableswitch);
        else
          code.bytes.push_back(random() % 2 == 0 ? kReturn : kThrow);
        break;
      default:
        code.bytes.push_back(kNop);
    }
    const uint8_t opcode = code.bytes.back();
    if (opcode == classfile::kOpIfeq || opcode == classfile::kOpGoto) {
      jumps.push_back(at);
      code.bytes.insert(code.bytes.end(), 2, 0);
    } else if (opcode == classfile::kOpTableswitch) {
      jumps.push_back(at);
      const size_t padding = classfile::SwitchPadding(at);
      code.bytes.insert(code.bytes.end(), padding + 12 + 2 * 4, 0);
      code.bytes[at + padding + 12] = 1;  // high; low is 0
    }
  }
  starts.push_back(static_cast<uint32_t>(code.bytes.size()));
  code.bytes.push_back(kReturn);
  const auto any = [&] { return starts[random() % starts.size()]; };
  for (const uint32_t at : jumps) {
    if (code.bytes[at] == classfile::kOpTableswitch) {
      const size_t operands = at + 1 + classfile::SwitchPadding(at);
      for (const size_t offset : {size_t{0}, size_t{12}, size_t{16}}) {
        classfile::StoreU4(code.bytes.data() + operands + offset, any() - at);
      }
    } else {
      classfile::StoreU2(code.bytes.data() + at + 1, (any() - at) & 0xFFFF);
    }
  }
  for (uint32_t n = random() % 3; n > 0; --n) {
    const uint32_t a = any(), b = any();
    if (a == b) continue;
    code.rows.push_back({static_cast<uint16_t>(std::min(a, b)),
                         static_cast<uint16_t>(std::max(a, b)), static_cast<uint16_t>(any()), 0});
  }
  return code;
}

// Some instructions may throw; an athrow does.
std::vector<uint32_t> RandomPoints(const TestCode& code, std::mt19937& random) {
  std::vector<uint32_t> points;
  for (uint32_t at = 0; at < code.bytes.size();
       at += static_cast<uint32_t>(classfile::InstructionLength(code.bytes, at))) {
    const uint8_t opcode = code.bytes[at];
    if (opcode == kThrow || (opcode == kNop && random() % 2 == 0)) points.push_back(at);
  }
  return points;
}

// Of `places`, with the machine's counts.
std::vector<PlacedCount> CountsOf(const std::vector<CounterPosition>& places, Machine& machine) {
  std::vector<PlacedCount> counts;
  for (const CounterPosition& place : places) {
    counts.push_back({place, machine.counters[{place.bci, place.kind}]});
  }
  return counts;
}

void ExpectTrue(const TestCode& code, const FlowCounts& flow, Machine& machine) {
  for (size_t i = 0; i < flow.graph.blocks.size(); ++i) {
    const classfile::FlowGraph::Block& block = flow.graph.blocks[i];
    for (uint32_t at = block.begin; at < block.end;
         at += static_cast<uint32_t>(classfile::InstructionLength(code.bytes, at))) {
      ASSERT_EQ(flow.CountAt(i, at), machine.began[at]) << "instruction " << at;
    }
  }
  for (size_t i = 0; i < flow.edges.size(); ++i) {
    const classfile::FlowGraph::Edge& edge = flow.graph.edges[i];
    if (edge.kind != classfile::EdgeKind::kFall && edge.kind != classfile::EdgeKind::kJump)
      continue;
    const uint32_t from = flow.graph.block(edge.from).last;
    const uint32_t to = flow.graph.block(edge.to).begin;
    ASSERT_EQ(flow.edges[i], (machine.jumps[{from, to}])) << from << " to " << to;
  }
}

// The weighted sum of counters is the number of instructions that ran, and of their cycles.
void ExpectWeightsAreTrue(const TestCode& code, const std::vector<CounterPosition>& places,
                          std::optional<int64_t> calls, Machine& machine) {
  const InstructionCosts& costs = InstructionCosts::Standard();
  const auto weights = FlowWeights::Make(code.attribute(), places, costs);
  ASSERT_TRUE(weights.has_value());
  FlowCost expected, found;
  for (const auto& [bci, count] : machine.began) {
    expected.AddTimes({1, costs.CyclesAt(code.bytes, bci)}, count);
  }
  for (size_t i = 0; i < places.size(); ++i) {
    found.AddTimes(weights->places()[i], machine.counters[{places[i].bci, places[i].kind}]);
  }
  found.AddTimes(weights->call(), calls.value_or(0));
  for (const auto& [bci, count] : machine.open) found.AddTimes(weights->Open(bci), count);
  ASSERT_EQ(found.instructions, expected.instructions);
  ASSERT_EQ(found.cycles, expected.cycles);
}

// Plans counters, runs the code, and derives everything from them.
bool Check(const TestCode& code, std::mt19937& random) {
  const std::vector<uint32_t> points = RandomPoints(code, random);
  // Exceptions of an instruction are counted, or a block ends after it; those of athrow as well.
  std::vector<uint32_t> thrown, splits;
  for (const uint32_t at : points) (random() % 2 == 0 ? thrown : splits).push_back(at);
  const bool count_entry = random() % 2 == 0;
  const CodeAttribute attribute = code.attribute();
  const auto plan = classfile::PlanCounters(attribute, thrown, splits, count_entry);
  if (!plan.has_value()) return false;
  Machine machine(code, plan->positions, points, random());
  const int calls = static_cast<int>(random() % 20);
  for (int i = 0; i < calls; ++i) machine.Call(200);
  std::vector<OpenActivations> open;
  for (const auto& [bci, count] : machine.open) open.push_back({bci, count});
  const auto flow = SolveFlow(attribute, CountsOf(plan->positions, machine), open,
                              count_entry ? std::nullopt : std::optional<int64_t>(calls));
  EXPECT_TRUE(flow.has_value());
  if (flow.has_value()) ExpectTrue(code, *flow, machine);
  const auto entries = count_entry ? std::nullopt : std::optional<int64_t>(calls);
  ExpectWeightsAreTrue(code, plan->positions, entries, machine);
  return true;
}

TEST(FlowSolver, DerivesEveryInstructionOfRandomMethods) {
  std::mt19937 random(19);
  int checked = 0, refused = 0;
  while (checked < 3000) {
    const TestCode code = RandomCode(random);
    if (!classfile::MakeFlowGraph(code.attribute(), {}).has_value()) continue;
    SCOPED_TRACE(testing::Message() << "method " << checked);
    ++(Check(code, random) ? checked : refused);
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
  // Only jumps of several switches to the same places are refused.
  EXPECT_LT(refused, checked / 10);
}

TEST(FlowSolver, ASingleCounterSufficesForABranch) {
  // if (x) nop; return
  const TestCode code = {{classfile::kOpIfeq, 0, 4, kNop, kReturn}, {}};
  const auto plan = classfile::PlanCounters(code.attribute(), {}, {}, false);
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->counters, 1u);
  EXPECT_EQ(plan->blocks, 3u);
}

TEST(FlowSolver, AStraightMethodNeedsNone) {
  const TestCode code = {{kNop, kNop, kReturn}, {}};
  const auto plan = classfile::PlanCounters(code.attribute(), {}, {}, false);
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->counters, 0u);
  const auto flow = SolveFlow(code.attribute(), {}, {}, 7);
  ASSERT_TRUE(flow.has_value());
  EXPECT_EQ(flow->blocks, std::vector<int64_t>{7});
}

TEST(FlowSolver, RefusesCountersOfOtherCode) {
  const TestCode code = {{kNop, kNop, kReturn}, {}};
  const PlacedCount other = {{CounterKind::kBlock, 1}, 3};
  EXPECT_FALSE(SolveFlow(code.attribute(), {&other, 1}, {}, 7).has_value());
  EXPECT_FALSE(FlowWeights::Make(code.attribute(), {&other.place, 1}, InstructionCosts::Standard())
                   .has_value());
  const OpenActivations beyond = {9, 1};
  EXPECT_FALSE(SolveFlow(code.attribute(), {}, {&beyond, 1}, 7).has_value());
  // Nobody says how often it was called.
  EXPECT_FALSE(SolveFlow(code.attribute(), {}, {}, std::nullopt).has_value());
}

}  // namespace
}  // namespace jtrace::postproc
