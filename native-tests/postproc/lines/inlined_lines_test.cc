// Lines of classes that were compiled from several files: Kotlin's inline functions, JSP.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "native-tests/support/counted_class.h"
#include "postproc/lines/block_log.h"
#include "postproc/lines/merged_lines.h"

namespace jtrace::postproc {
namespace {

using ::testing::ElementsAre;

// In line 4 a call of `twice` of app/UtilKt, inlined: line 10 of the class is line 2 of Util.kt.
// Line 11 is the library's, called in line 5.
constexpr char kMap[] =
    "SMAP\nMain.kt\nKotlin\n*S Kotlin\n*F\n+ 1 Main.kt\napp/MainKt\n+ 2 Util.kt\napp/UtilKt\n"
    "+ 3 Lib.kt\nlib/LibKt\n*L\n1#1,9:1\n2#2:10\n70#3:11\n*S KotlinDebug\n*F\n+ 1 "
    "Main.kt\napp/MainKt\n"
    "*L\n4#1:10\n5#1:11\n*E\n";

class InlinedLinesTest : public ::testing::Test {
 protected:
  void Add(int number, const std::string& class_name, test::ClassBuilder& builder,
           const std::string& counts) {
    const std::string code = "code=" + std::to_string(number);
    log_.OnNotice({}, "class-code",
                  std::vector<std::string>{code, class_name, testing::InHex(builder.Build())});
    log_.OnNotice({}, "blocks",
                  std::vector<std::string>{code, "method=0", class_name + ".m()", counts, "b4=4"});
  }

  void AddMain(const std::string& counts = "calls=10") {
    test::ClassBuilder main("app/MainKt");
    main.ClassAttribute("SourceFile", test::BytesOf().U2(main.Utf8("Main.kt")))
        .ClassAttribute("SourceDebugExtension", testing::BytesOfText(kMap))
        .Add(testing::IfMethod({{0, 4}, {1, 10}, {4, 11}, {5, 5}}));
    Add(1, "app.MainKt", main, counts);
  }

  LineProfile Lines(const std::string& scope) const {
    InlinedLines inlined;
    LineProfile profile = log_.Lines(InstructionCosts::Standard(), nullptr, inlined);
    inlined.PlaceInto([&](std::string_view name) { return name.starts_with(scope); }, profile);
    SortMethods(profile);
    return profile;
  }

  TraceModel model_;
  BlockLog log_{model_};
};

// "line: executions, instructions" of each line.
std::vector<std::string> Texts(const MethodLines& method) {
  std::vector<std::string> texts;
  for (const LineCounts& line : method.lines) {
    texts.push_back(std::to_string(line.line) + ": " + std::to_string(line.executions) + ", " +
                    std::to_string(line.instructions));
  }
  return texts;
}

// iconst_0 in line 4, ifeq in the inlined one, nop in the library's, return in line 5. Of ten calls
// four do not jump.
TEST_F(InlinedLinesTest, LinesOfAFunctionInScopeAreItsClasss) {
  AddMain();
  const LineProfile profile = Lines("app");
  ASSERT_EQ(profile.methods.size(), 2u);
  const MethodLines& main = profile.methods[0];
  EXPECT_THAT(Texts(main), ElementsAre("4: 10, 10", "5: 10, 14"));  // with the library's nop
  EXPECT_EQ(main.instructions, 34u);
  const MethodLines& util = profile.methods[1];
  EXPECT_EQ(util.class_name, "app.UtilKt");
  EXPECT_EQ(SourcePath(util), "app/Util.kt");
  EXPECT_TRUE(util.is_part);
  EXPECT_THAT(Texts(util), ElementsAre("2: 10, 10"));
  EXPECT_EQ(util.lines[0].branches, 2u);
  EXPECT_EQ(util.lines[0].branches_taken, 2u);
}

TEST_F(InlinedLinesTest, LinesOutOfScopeAreThoseOfTheirCalls) {
  AddMain();
  const LineProfile profile = Lines("none");
  ASSERT_EQ(profile.methods.size(), 1u);
  EXPECT_THAT(Texts(profile.methods[0]), ElementsAre("4: 10, 20", "5: 10, 14"));
  // Conditions of code that is not shown are not the line's.
  EXPECT_EQ(profile.methods[0].lines[0].branches, 0u);
}

TEST_F(InlinedLinesTest, CopiesAddUpInTheMethodThatHasTheLine) {
  AddMain();
  AddMain();
  test::ClassBuilder util("app/UtilKt");
  util.ClassAttribute("SourceFile", test::BytesOf().U2(util.Utf8("Util.kt")))
      .Add(testing::IfMethod({{0, 2}}));
  Add(2, "app.UtilKt", util, "calls=7");
  const LineProfile profile = Lines("app");
  ASSERT_EQ(profile.methods.size(), 2u);
  EXPECT_EQ(profile.methods[1].name, "m()");
  EXPECT_TRUE(profile.methods[1].was_inlined);
  EXPECT_EQ(profile.methods[1].calls, 7u);
  // 7 of its own, and 10 of each copy; 7 · 3 + 4 instructions, and 10 of each.
  EXPECT_THAT(Texts(profile.methods[1]), ElementsAre("2: 27, 45"));
}

TEST_F(InlinedLinesTest, APageHasTheLinesOfItsFiles) {
  test::ClassBuilder page("org/apache/jsp/hello_jsp");
  page.ClassAttribute("SourceFile", test::BytesOf().U2(page.Utf8("hello_jsp.java")))
      .ClassAttribute("SourceDebugExtension",
                      testing::BytesOfText(
                          "SMAP\nhello_jsp.java\nJSP\n*S JSP\n*F\n+ 0 hello.jsp\nweb/hello.jsp\n"
                          "+ 1 top.jspf\nweb/top.jspf\n*L\n3#0,2:50,2\n7#1:60\n*E\n"))
      // Lines 50 and 51 are line 3 of the page, 60 is the head's, 99 the compiler's own.
      .Add(testing::IfMethod({{0, 50}, {1, 51}, {4, 60}, {5, 99}}));
  Add(1, "org.apache.jsp.hello_jsp", page, "calls=10");
  const LineProfile profile = Lines("none");
  ASSERT_EQ(profile.methods.size(), 2u);
  EXPECT_EQ(profile.methods[0].instructions + profile.methods[1].instructions, 34u);
  for (const MethodLines& method : profile.methods) {
    EXPECT_EQ(method.name, "m()");
    if (method.is_part) {
      EXPECT_EQ(SourcePath(method), "web/top.jspf");
      EXPECT_THAT(Texts(method), ElementsAre("7: 4, 4"));
    } else {
      EXPECT_EQ(SourcePath(method), "web/hello.jsp");
      EXPECT_THAT(Texts(method), ElementsAre("3: 10, 20"));
    }
  }
}

TEST_F(InlinedLinesTest, APathThatLeavesTheFolderIsNone) {
  MethodLines method;
  method.source_path = "/web/../../etc/passwd";
  EXPECT_EQ(SourcePath(method), "");
  method.source_path = "/web/hello.jsp";
  EXPECT_EQ(SourcePath(method), "web/hello.jsp");
}

TEST_F(InlinedLinesTest, ADamagedMapChangesNothing) {
  test::ClassBuilder main("app/MainKt");
  main.ClassAttribute("SourceDebugExtension", testing::BytesOfText("SMAP\nx"))
      .Add(testing::IfMethod({{0, 4}}));
  Add(1, "app.MainKt", main, "calls=10");
  const LineProfile profile = Lines("app");
  ASSERT_EQ(profile.methods.size(), 1u);
  EXPECT_THAT(Texts(profile.methods[0]), ElementsAre("4: 10, 34"));
}

}  // namespace
}  // namespace jtrace::postproc
