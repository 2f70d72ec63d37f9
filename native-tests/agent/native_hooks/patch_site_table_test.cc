// Code runs as before with an int3 on any of its instructions.
#include "agent/native_hooks/patch_site_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "agent/native_hooks/trap_signal.h"
#include "agent/signal_safe/patch_sites.h"
#include "native-tests/agent/native_hooks/code_buffer.h"

namespace jtrace::native_hooks {
namespace {

PatchSiteTable& Table() {
  static auto* const table = new PatchSiteTable;  // as in the agent: sites are never freed
  return *table;
}

struct Shape {
  const char* name;
  CodeBuffer* code;
  size_t hooked;  // offset of the instruction
};

// Code lives as long as its sites: forever.
CodeBuffer* Code(std::initializer_list<uint8_t> bytes) {
  static auto* const all = new std::vector<std::unique_ptr<CodeBuffer>>;
  return all->emplace_back(std::make_unique<CodeBuffer>(bytes)).get();
}

CodeBuffer* CodeWithAddress(std::initializer_list<uint8_t> bytes, size_t offset, size_t target) {
  CodeBuffer* const code = Code(bytes);
  code->PutAddress(offset, target);
  return code;
}

std::vector<Shape> Shapes() {
  return {
      {"push", Code({0x55, 0x48, 0x89, 0xe5, 0x8d, 0x44, 0x7f, 0x01, 0x5d, 0xc3}), 0},
      {"endbr64", Code({0xf3, 0x0f, 0x1e, 0xfa, 0x8d, 0x47, 0x01, 0xc3}), 0},
      {"load relative to rip", Code({0x8b, 0x05, 3, 0, 0, 0, 0x01, 0xf8, 0xc3, 0x2a, 0, 0, 0}), 0},
      {"lea relative to rip",
       Code({0x48, 0x8d, 0x05, 3, 0, 0, 0, 0xff, 0xd0, 0xc3, 0x8d, 0x47, 0x0b, 0xc3}), 0},
      {"call rax", Code({0x48, 0x8d, 0x05, 3, 0, 0, 0, 0xff, 0xd0, 0xc3, 0x8d, 0x47, 0x0b, 0xc3}),
       7},
      {"short jump", Code({0xeb, 2, 0x0f, 0x0b, 0x8d, 0x47, 0x05, 0xc3}), 0},
      {"near jump", Code({0xe9, 2, 0, 0, 0, 0x0f, 0x0b, 0x8d, 0x47, 0x06, 0xc3}), 0},
      {"jump by memory",
       CodeWithAddress({0xff, 0x25, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x8d, 0x47, 0x08, 0xc3}, 6,
                       14),
       0},
      {"jrcxz", Code({0xe3, 4, 0x8d, 0x47, 0x01, 0xc3, 0x8d, 0x47, 0x02, 0xc3}), 0},
      {"loop", Code({0xe2, 4, 0x8d, 0x47, 0x01, 0xc3, 0x8d, 0x47, 0x02, 0xc3}), 0},
      {"short je", Code({0x85, 0xff, 0x74, 4, 0x8d, 0x47, 0x01, 0xc3, 0x8d, 0x47, 0x02, 0xc3}), 2},
      {"near je",
       Code({0x85, 0xff, 0x0f, 0x84, 4, 0, 0, 0, 0x8d, 0x47, 0x01, 0xc3, 0x8d, 0x47, 0x02, 0xc3}),
       2},
      {"call", Code({0xe8, 1, 0, 0, 0, 0xc3, 0x8d, 0x47, 0x07, 0xc3}), 0},
      {"call by memory",
       CodeWithAddress(
           {0xff, 0x15, 1, 0, 0, 0, 0xc3, 0, 0, 0, 0, 0, 0, 0, 0, 0x8d, 0x47, 0x09, 0xc3}, 7, 15),
       0},
      {"ret", Code({0x89, 0xf8, 0xc3}), 2},
      {"add that sets flags",
       Code({0x01, 0xff, 0x74, 4, 0x8d, 0x47, 0x01, 0xc3, 0x8d, 0x47, 0x02, 0xc3}), 0},
  };
}

constexpr int kInputs[] = {-7, 0, 1, 5, 1 << 20};
constexpr uint64_t kCounters[] = {0, 1, 2, 1ull << 40};

std::vector<int> RunAll(const CodeBuffer& code) {
  std::vector<int> results;
  for (const int x : kInputs) {
    for (const uint64_t counter : kCounters) results.push_back(code.Run(x, counter));
  }
  return results;
}

TEST(PatchSiteTableTest, EveryShapeOfInstructionRunsAsBefore) {
  ASSERT_TRUE(PrepareTrapHandler().ok());
  for (const Shape& shape : Shapes()) {
    const std::vector<int> before = RunAll(*shape.code);
    auto site = Table().Make(shape.code->address(shape.hooked));
    ASSERT_TRUE(site.ok()) << shape.name << ": " << site.status();
    ASSERT_TRUE(Table().SetBinding(**site, {signal_safe::kHookCount, 1}).ok()) << shape.name;
    EXPECT_EQ(*reinterpret_cast<const uint8_t*>(shape.code->address(shape.hooked)), 0xcc);
    EXPECT_EQ(RunAll(*shape.code), before) << shape.name;
    EXPECT_EQ((*site)->calls.load(), before.size()) << shape.name;
    ASSERT_TRUE(Table().SetBinding(**site, {}).ok());
    EXPECT_EQ(RunAll(*shape.code), before) << shape.name;
    EXPECT_EQ((*site)->calls.load(), before.size()) << shape.name;
  }
}

TEST(PatchSiteTableTest, APcInASlotMapsToTheInstruction) {
  const CodeBuffer& code = *Code({0x55, 0x48, 0x89, 0xe5, 0x5d, 0xc3});
  auto site = Table().Make(code.address());
  ASSERT_TRUE(site.ok());
  EXPECT_EQ(signal_safe::OriginalPc((*site)->slot), code.address());
  EXPECT_EQ(signal_safe::OriginalPc((*site)->slot + 1), code.address(1));
  EXPECT_EQ(signal_safe::OriginalPc(code.address(1)), code.address(1));
}

TEST(PatchSiteTableTest, AnotherToolsBreakpointStays) {
  ASSERT_TRUE(PrepareTrapHandler().ok());
  const CodeBuffer& code = *Code({0x55, 0x5d, 0xc3});
  auto site = Table().Make(code.address());
  ASSERT_TRUE(site.ok());
  auto* const byte = reinterpret_cast<uint8_t*>(code.address());
  *byte = 0xcc;
  EXPECT_THAT(std::string(Table().SetBinding(**site, {signal_safe::kHookCount, 1}).message()),
              testing::HasSubstr("another breakpoint"));
  EXPECT_EQ(*byte, 0xcc);
  EXPECT_FALSE(Table().Make(Code({0xcc, 0xc3})->address()).ok());
}

}  // namespace
}  // namespace jtrace::native_hooks
