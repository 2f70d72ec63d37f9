#include "postproc/lines/instruction_costs.h"

#include <string>

#include "common/classfile/opcodes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace jtrace::postproc {
namespace {

using testing::HasSubstr;

TEST(InstructionCosts, TheTableHasEveryInstruction) {
  for (int opcode = 0; opcode < 256; ++opcode) {
    const auto op = static_cast<uint8_t>(opcode);
    const bool exists = classfile::KindOf(op) != classfile::OperandKind::kInvalid;
    EXPECT_EQ(!InstructionCosts::NameOf(op).empty(), exists) << opcode;
  }
  EXPECT_EQ(InstructionCosts::NameOf(classfile::kOpInvokevirtual), "invokevirtual");
  EXPECT_EQ(InstructionCosts::NameOf(classfile::kOpJsrW), "jsr_w");
  EXPECT_GT(InstructionCosts::Standard().CyclesOf(classfile::kOpInvokeinterface),
            InstructionCosts::Standard().CyclesOf(classfile::kOpIload));
}

TEST(InstructionCosts, RulesReplaceLines) {
  const auto costs = InstructionCosts::WithRules("# mine\nnop 7  # why\n\n190 arraylength 9\n");
  ASSERT_TRUE(costs.ok()) << costs.status();
  EXPECT_EQ(costs->CyclesOf(classfile::kOpNop), 7u);
  EXPECT_EQ(costs->CyclesOf(190), 9u);
  EXPECT_EQ(costs->CyclesOf(classfile::kOpIload),
            InstructionCosts::Standard().CyclesOf(classfile::kOpIload));
}

TEST(InstructionCosts, MistakesNameTheLine) {
  const auto message = [](std::string_view rules) {
    return std::string(InstructionCosts::WithRules(rules).status().message());
  };
  EXPECT_THAT(message("nop 1\nidivv 20"),
              HasSubstr("line 2: no instruction 'idivv'; nearest: idiv"));
  EXPECT_THAT(message("idiv"), HasSubstr("line 1: needs an instruction and its cycles"));
  EXPECT_THAT(message("idiv -1"), HasSubstr("line 1"));
  EXPECT_THAT(message("idiv 1 2 3"), HasSubstr("line 1"));
  EXPECT_THAT(message("idiv 99999999"), HasSubstr("line 1"));
}

}  // namespace
}  // namespace jtrace::postproc
