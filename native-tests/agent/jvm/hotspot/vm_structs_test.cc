#include "agent/jvm/hotspot/vm_structs.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>

namespace jtrace::jvm {
namespace {

TEST(VmReadsTest, EachEntryIsListedOnce) {
  std::set<std::tuple<VmTableEntryKind, std::string, std::string>> seen;
  for (const VmTableEntry& read : VmTableEntries()) {
    const bool is_new =
        seen.emplace(read.kind, std::string(read.type), std::string(read.field)).second;
    EXPECT_TRUE(is_new) << read.type << "::" << read.field;
    EXPECT_FALSE(read.type.empty() && read.field.empty());
  }
}

TEST(VmReadsTest, EachPartHasEntriesAndATextOfItsOwn) {
  std::set<LayoutSection> parts;
  for (const VmTableEntry& read : VmTableEntries()) parts.insert(read.part);
  std::set<std::string> names;
  for (int i = 0; i < kVmParts; ++i) {
    const auto part = static_cast<LayoutSection>(i);
    EXPECT_TRUE(parts.contains(part)) << i;
    EXPECT_TRUE(names.insert(std::string(TextOf(part).name)).second) << i;
    EXPECT_FALSE(TextOf(part).verified.empty());
    EXPECT_FALSE(TextOf(part).without.empty());
  }
  EXPECT_EQ(TextOf(LayoutSection::kLevels).name, "levels");
}

}  // namespace
}  // namespace jtrace::jvm
