#include "agent/jvm/redefined_classes.h"

#include <gtest/gtest.h>

#include <vector>

namespace jtrace::jvm {
namespace {

const std::vector<unsigned char> kHalf(RedefinedClasses::kMaxBytes / 2 + 1, 1);

TEST(RedefinedClassesTest, AnUnloadedClassLeavesItsRoomToOthers) {
  RedefinedClasses classes;
  ASSERT_TRUE(classes.Add(1, kHalf));
  EXPECT_FALSE(classes.Add(2, kHalf));
  classes.Forget({1});
  EXPECT_TRUE(classes.Add(2, kHalf));
  EXPECT_TRUE(classes.Current(1, {}).empty());
}

TEST(RedefinedClassesTest, TheFileOfAnotherAgentIsReturnedIfTheJvmForgotIt) {
  RedefinedClasses classes;
  const std::vector<unsigned char> changed = {1, 2, 3};
  ASSERT_TRUE(classes.Add(7, changed));
  EXPECT_TRUE(classes.Current(7, changed).empty());
  EXPECT_EQ(classes.Current(7, std::vector<unsigned char>{9}), changed);
}

}  // namespace
}  // namespace jtrace::jvm
