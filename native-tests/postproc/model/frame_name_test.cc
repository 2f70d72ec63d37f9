#include "postproc/model/frame_name.h"

#include <gtest/gtest.h>

#include <string>

namespace jtrace::postproc {
namespace {

struct Case {
  std::string text;
  Origin origin;
  std::string module;
  std::string name;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.text; }

class FrameNameTest : public ::testing::TestWithParam<Case> {};

TEST_P(FrameNameTest, SplitsAndJoins) {
  const FrameName frame = ParseFrameName(GetParam().text);
  EXPECT_EQ(frame.origin, GetParam().origin);
  EXPECT_EQ(frame.module, GetParam().module);
  EXPECT_EQ(frame.name, GetParam().name);
  const std::string formatted = FormatFrameName(frame);
  const FrameName again = ParseFrameName(formatted);
  EXPECT_EQ(again.module, GetParam().module);
  EXPECT_EQ(again.name, GetParam().name);
}

INSTANTIATE_TEST_SUITE_P(
    Frames, FrameNameTest,
    ::testing::Values(Case{"A1", Origin::kNone, "", "A1"},
                      Case{"J:a.B.run()", Origin::kInterpreted, "", "a.B.run()"},
                      Case{"N:libc.so.6!malloc", Origin::kNative, "libc.so.6", "malloc"},
                      Case{"N:my code.dll!Foo()", Origin::kNative, "my code.dll", "Foo()"},
                      Case{"N:foo", Origin::kNative, "", "foo"},
                      Case{"N:a::operator!=(a, b)", Origin::kNative, "", "a::operator!=(a, b)"},
                      Case{"N:libx.so!operator!()", Origin::kNative, "libx.so", "operator!()"},
                      Case{"K:do_syscall_64", Origin::kKernel, "", "do_syscall_64"},
                      Case{"V:[stubs]!call_stub", Origin::kVm, "[stubs]", "call_stub"},
                      Case{"J::f", Origin::kNone, "", "J::f"},
                      Case{"X:f", Origin::kNone, "", "X:f"},
                      Case{"J:a!b", Origin::kInterpreted, "", "a!b"},
                      Case{"J:", Origin::kInterpreted, "", ""}, Case{"", Origin::kNone, "", ""},
                      Case{"N:", Origin::kNative, "", ""}));

TEST(FrameNameTest, TailCallsAreMarkedAtTheModule) {
  const FrameName frame = ParseFrameName("N:libfoo.so [tail call]!work(int)");
  EXPECT_EQ(frame.origin, Origin::kNative);
  EXPECT_EQ(frame.module, "libfoo.so");
  EXPECT_EQ(frame.name, "work(int)");
  EXPECT_TRUE(frame.is_tail_call);
  EXPECT_EQ(FormatFrameName(frame), "N:libfoo.so [tail call]!work(int)");
  EXPECT_FALSE(ParseFrameName("N:libfoo.so!work(int)").is_tail_call);
  const std::string without_module = FormatFrameName({Origin::kNative, "", "f", true});
  EXPECT_TRUE(ParseFrameName(without_module).is_tail_call);
  EXPECT_EQ(ParseFrameName(without_module).module, "");
  EXPECT_EQ(ParseFrameName(without_module).name, "f");
}

TEST(FrameNameTest, FormatKeepsNamesThatLookLikePrefixesOrModules) {
  for (const std::string name : {"J:a", "N:", "a!b", ":x", "operator!", "C::d"}) {
    for (const Origin origin : {Origin::kNone, Origin::kNative, Origin::kKernel}) {
      const std::string formatted = FormatFrameName({origin, "", name});
      EXPECT_EQ(ParseFrameName(formatted).name, name);
    }
  }
}

TEST(FrameNameTest, AngleBracketsAreClosedUp) {
  std::string storage;
  EXPECT_EQ(NormalizeName("a<b<c> >", storage), "a<b<c>>");
  EXPECT_EQ(NormalizeName("a<b<c<d> > >", storage), "a<b<c<d>>>");
  EXPECT_EQ(NormalizeName("a > b", storage), "a > b");
}

TEST(FrameNameTest, ParametersMayBeLeftOut) {
  EXPECT_TRUE(RoutineMatches("a.B.run", "a.B.run(int)"));
  EXPECT_TRUE(RoutineMatches("a.B::run", "a.B.run(int)"));
  EXPECT_TRUE(RoutineMatches("a.B.run(int)", "a.B.run(int)"));
  EXPECT_TRUE(RoutineMatches("a.B.get", "a.B.get():String"));
  EXPECT_TRUE(RoutineMatches("ns::f", "ns::f(int)"));
  EXPECT_TRUE(RoutineMatches("(anonymous namespace)::f", "(anonymous namespace)::f(int)"));
  EXPECT_TRUE(RoutineMatches("F::operator()", "F::operator()(int)"));
  EXPECT_FALSE(RoutineMatches("a.B.run(long)", "a.B.run(int)"));
  EXPECT_FALSE(RoutineMatches("run", "a.B.run(int)"));
}

}  // namespace
}  // namespace jtrace::postproc
