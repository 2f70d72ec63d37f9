#include "agent/api/abi/functions.h"

#include <gtest/gtest.h>

namespace jtrace::abi {
namespace {

// A structure that had one field in its first version.
struct Grown {
  uint32_t struct_size;
  uint32_t first;
  uint64_t later;
};
constexpr size_t kFirstSize = offsetof(Grown, later);

TEST(CopySizedTest, CopiesWhatACallerOfAnyVersionHasRoomFor) {
  const Grown from = {.struct_size = 0, .first = 1, .later = 2};
  Grown into = {.struct_size = kFirstSize, .first = 7, .later = 7};
  ASSERT_TRUE(CopySized(from, kFirstSize, &into));
  EXPECT_EQ(into.struct_size, kFirstSize);
  EXPECT_EQ(into.first, 1u);
  EXPECT_EQ(into.later, 7u) << "the caller has no such field";

  into.struct_size = sizeof(Grown);
  ASSERT_TRUE(CopySized(from, kFirstSize, &into));
  EXPECT_EQ(into.later, 2u);
}

TEST(CopySizedTest, RefusesLessThanTheFirstVersion) {
  const Grown from = {};
  Grown into = {.struct_size = kFirstSize - 1, .first = 7, .later = 7};
  EXPECT_FALSE(CopySized(from, kFirstSize, &into));
  EXPECT_EQ(into.first, 7u);
}

}  // namespace
}  // namespace jtrace::abi
