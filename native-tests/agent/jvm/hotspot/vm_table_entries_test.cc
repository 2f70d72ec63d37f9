#include "agent/jvm/hotspot/vm_table_entries.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>

namespace jtrace::jvm {
namespace {

TEST(VmTableEntriesTest, EachEntryIsListedOnce) {
  std::set<std::tuple<VmTableEntryKind, std::string, std::string>> seen;
  for (const VmTableEntry& read : VmTableEntries()) {
    const bool is_new =
        seen.emplace(read.kind, std::string(read.type), std::string(read.field)).second;
    EXPECT_TRUE(is_new) << read.type << "::" << read.field;
    EXPECT_FALSE(read.type.empty() && read.field.empty());
  }
}

TEST(VmTableEntriesTest, EachSectionHasEntriesAndATextOfItsOwn) {
  std::set<LayoutSection> sections;
  for (const VmTableEntry& read : VmTableEntries()) sections.insert(read.section);
  std::set<std::string> names;
  for (int i = 0; i < kLayoutSectionCount; ++i) {
    const auto section = static_cast<LayoutSection>(i);
    EXPECT_TRUE(sections.contains(section)) << i;
    EXPECT_TRUE(names.insert(std::string(TextOf(section).name)).second) << i;
    EXPECT_FALSE(TextOf(section).verified.empty());
    EXPECT_FALSE(TextOf(section).without.empty());
  }
  EXPECT_EQ(TextOf(LayoutSection::kLevels).name, "levels");
}

}  // namespace
}  // namespace jtrace::jvm
