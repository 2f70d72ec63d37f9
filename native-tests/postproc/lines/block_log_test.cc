#include "postproc/lines/block_log.h"

#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"
#include "common/classfile/opcodes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "native-tests/support/class_builder.h"

namespace jtrace::postproc {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// static void m(): `if (0 == 0) nop` in line 10, `return` in line 12.
std::string ClassInHex() {
  test::ClassBuilder builder("a/B");
  test::TestMethod method;
  method.code = {3, classfile::kOpIfeq, 0, 4, classfile::kOpNop, classfile::kOpReturn};
  method.attributes = {
      {"LineNumberTable", test::BytesOf().U2(2).U2(0).U2(10).U2(5).U2(12)},
  };
  const test::ByteVector bytes = builder.Add(method).Build();
  const absl::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return std::string(absl::BytesToHexString(text));
}

class BlockLogTest : public testing::Test {
 protected:
  void Notice(std::string_view op, const std::vector<std::string>& args) {
    log_.OnNotice({}, op, args);
  }
  void AddClass(const std::string& number = "code=1") {
    Notice("class-code", {number, "a.B", ClassInHex()});
  }
  LineProfile Lines() { return log_.Lines(InstructionCosts::Standard()); }

  TraceModel model_;
  BlockLog log_{model_};
};

TEST_F(BlockLogTest, DerivesLines) {
  AddClass();
  // Of ten calls, four do not jump.
  Notice("blocks", {"code=1", "method=0", "a.B.m()", "calls=10", "b4=4"});
  const LineProfile profile = Lines();
  ASSERT_THAT(profile.methods, SizeIs(1));
  const MethodLines& method = profile.methods[0];
  EXPECT_EQ(method.class_name, "a.B");
  EXPECT_EQ(method.name, "m()");
  EXPECT_EQ(method.calls, 10u);
  EXPECT_EQ(method.instructions, 10u + 10 + 4 + 10);
  ASSERT_THAT(method.lines, SizeIs(2));
  EXPECT_EQ(method.lines[0].line, 10);
  EXPECT_EQ(method.lines[0].executions, 10u);
  EXPECT_EQ(method.lines[0].instructions, 24u);
  EXPECT_EQ(method.lines[0].branches, 2u);
  EXPECT_EQ(method.lines[0].branches_taken, 2u);
  EXPECT_THAT(method.lines[0].blocks, ElementsAre(10u, 4u));
  EXPECT_EQ(method.lines[1].line, 12);
  EXPECT_EQ(method.lines[1].executions, 10u);
  // iconst_0, ifeq, return: 1 + 1 + 2.
  EXPECT_EQ(method.cycles, 10u * 4);
}

// What is open has not left its block.
TEST_F(BlockLogTest, OpenActivationsEndWhereTheyAre) {
  AddClass();
  Notice("blocks", {"code=1", "method=0", "a.B.m()", "calls=10", "b4=4", "o4=1"});
  const LineProfile profile = Lines();
  ASSERT_THAT(profile.methods, SizeIs(1));
  EXPECT_EQ(profile.methods[0].lines[1].executions, 9u);
}

TEST_F(BlockLogTest, VersionsOfAClassAddUp) {
  AddClass();
  Notice("blocks", {"code=1", "method=0", "a.B.m()", "calls=10", "b4=4"});
  AddClass("code=2");
  Notice("blocks", {"code=2", "method=0", "a.B.m()", "f0=5", "b4=0"});
  const LineProfile profile = Lines();
  ASSERT_THAT(profile.methods, SizeIs(1));
  EXPECT_EQ(profile.methods[0].calls, 15u);
  EXPECT_THAT(profile.methods[0].lines[0].blocks, ElementsAre(15u, 4u));
}

TEST_F(BlockLogTest, CountersOfOtherCodeAreNotCounted) {
  AddClass();
  Notice("blocks", {"code=1", "method=0", "a.B.m()", "calls=10"});
  Notice("blocks", {"code=1", "method=0", "a.B.m()", "calls=10", "b3=4"});
  const LineProfile profile = Lines();
  EXPECT_THAT(profile.methods, IsEmpty());
  EXPECT_EQ(profile.methods_not_counted, 2u);
}

TEST_F(BlockLogTest, IgnoresWhatItCannotRead) {
  Notice("blocks", {"code=1", "method=0", "a.B.m()", "calls=10", "b4=4"});  // no class yet
  Notice("class-code", {"code=1", "a.B"});
  Notice("class-code", {"code=1", "a.B", "cafe0"});
  Notice("class-code", {"code=x", "a.B", "cafe"});
  Notice("class-code", {"code=1", "a.B", "zz"});
  Notice("blocks", {"code=1", "method=0", "a.B.m()", "calls=10", "b4=4"});
  Notice("class-code", {"code=1", "a.B", "cafebabe"});
  Notice("blocks", {"code=1", "method=0", "a.B.m()", "calls=10", "b4=4"});
  AddClass("code=2");
  Notice("blocks", {"code=2", "method=-1", "a.B.m()"});
  Notice("blocks", {"code=2", "method=7", "a.B.m()", "calls=1"});
  Notice("blocks", {"code=2"});
  EXPECT_THAT(Lines().methods, IsEmpty());
}

}  // namespace
}  // namespace jtrace::postproc
