// Classes of the class path that were never loaded.
#include "postproc/lines/unloaded_classes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "native-tests/support/counted_class.h"
#include "postproc/lines/merged_lines.h"

namespace jtrace::postproc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TraceModel ModelWith(std::string_view options) {
  TraceModel model;
  model.AddTrace("t").SetFact("options", options);
  return model;
}

std::vector<std::string> Names(const UnloadedClasses& classes) {
  std::vector<std::string> names;
  for (const MethodLines& method : classes.methods()) names.push_back(FullName(method));
  return names;
}

test::ByteVector ClassFileOf(const std::string& name) {
  test::ClassBuilder builder(name);
  test::TestMethod other = testing::IfMethod({{0, 7}, {4, 8}}, "run");
  other.descriptor = "(ILjava/lang/String;)V";
  test::TestMethod abstract;
  abstract.name = "none";
  return builder.Add(testing::IfMethod({{0, 3}})).Add(other).Add(abstract).Build();
}

TEST(UnloadedClassesTest, MethodsWithCodeNeverRan) {
  UnloadedClasses classes(RecordedScope(ModelWith("mode=events")), {});
  classes.Add(ClassFileOf("a/B"));
  EXPECT_THAT(Names(classes), ElementsAre("a.B.m()", "a.B.run(int,String)"));
  const MethodLines& run = classes.methods()[1];
  EXPECT_TRUE(run.never_loaded);
  EXPECT_EQ(run.calls, 0u);
  EXPECT_EQ(run.descriptor, "(ILjava/lang/String;)V");
  ASSERT_EQ(run.lines.size(), 2u);
  EXPECT_EQ(run.lines[0].line, 7);
  EXPECT_EQ(run.lines[0].executions, 0u);
  EXPECT_EQ(run.lines[0].branches, 2u);
  EXPECT_EQ(run.lines[0].branches_taken, 0u);
  EXPECT_EQ(run.lines[1].line, 8);
}

TEST(UnloadedClassesTest, OnlyOnceAndNotThoseThatWereLoaded) {
  UnloadedClasses classes(RecordedScope(ModelWith("")), {"a.Known"});
  classes.Add(ClassFileOf("a/Known"));
  EXPECT_THAT(classes.methods(), IsEmpty());
  classes.Add(ClassFileOf("a/B"));
  classes.Add(ClassFileOf("a/B"));
  EXPECT_EQ(classes.methods().size(), 2u);
}

TEST(UnloadedClassesTest, OnlyWhatTheTracesHadInScope) {
  UnloadedClasses classes(
      RecordedScope(ModelWith("mode=events,include=a.**;b.C,exclude=a.x.*;a.B::run")), {});
  for (const char* name : {"a/B", "a/x/Y", "b/D", "java/util/List"}) classes.Add(ClassFileOf(name));
  EXPECT_THAT(Names(classes), ElementsAre("a.B.m()"));
}

TEST(UnloadedClassesTest, CountsWhatIsNoClassFile) {
  UnloadedClasses classes(RecordedScope(ModelWith("")), {});
  classes.Add({});
  const test::ByteVector text = testing::BytesOfText("not a class");
  classes.Add(text);
  test::ByteVector cut = ClassFileOf("a/B");
  cut.resize(cut.size() / 2);
  classes.Add(cut);
  EXPECT_EQ(classes.unreadable(), 3u);
  EXPECT_THAT(classes.methods(), IsEmpty());
}

}  // namespace
}  // namespace jtrace::postproc
