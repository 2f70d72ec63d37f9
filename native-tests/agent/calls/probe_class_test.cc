#include "agent/calls/probe_class.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "agent/calls/embedded_classes.h"

namespace jtrace::calls {
namespace {

bool Contains(const std::vector<uint8_t>& bytes, const std::vector<uint8_t>& what) {
  return std::search(bytes.begin(), bytes.end(), what.begin(), what.end()) != bytes.end();
}

TEST(ProbeClassTest, IsForJava11) {
  const auto bytes = EmbeddedProbeClass();
  ASSERT_GT(bytes.size(), 1000u);
  EXPECT_EQ(bytes[0], 0xCA);
  EXPECT_EQ(bytes[7], 55) << "class file version of Java 11 (JVMS table 4.1-A)";
}

TEST(ProbeClassTest, ConstantsAreWrittenBigEndian) {
  auto bytes = PatchProbeClass(EmbeddedProbeClass(),
                               {.arena = 0x7F12345678901000, .flat = true, .thread_spare = 0x77});
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_EQ(bytes->size(), EmbeddedProbeClass().size());
  EXPECT_TRUE(Contains(*bytes, {5, 0x7F, 0x12, 0x34, 0x56, 0x78, 0x90, 0x10, 0x00}));
  EXPECT_TRUE(Contains(*bytes, {5, 0, 0, 0, 0, 0, 0, 0, 1}));
  EXPECT_TRUE(Contains(*bytes, {5, 0, 0, 0, 0, 0, 0, 0, 0x77}));
}

// A literal that javac folded into another one would leave the placeholder's upper half.
TEST(ProbeClassTest, NoPlaceholderRemains) {
  auto bytes =
      PatchProbeClass(EmbeddedProbeClass(), {.arena = 0x1000, .flat = false, .thread_spare = 0});
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_FALSE(Contains(*bytes, {0x4A, 0x54, 0x52, 0x41, 0x43, 0x45}));
}

TEST(ProbeClassTest, RejectsAClassWithoutThePlaceholders) {
  EXPECT_FALSE(
      PatchProbeClass(std::vector<uint8_t>(100), {.arena = 1, .flat = false, .thread_spare = 0})
          .ok());
  auto once = PatchProbeClass(EmbeddedProbeClass(), {.arena = 1, .flat = false, .thread_spare = 0});
  ASSERT_TRUE(once.ok());
  EXPECT_FALSE(PatchProbeClass(*once, {.arena = 1, .flat = false, .thread_spare = 0}).ok());
}

TEST(ProbeClassTest, ARenamedSetRefersOnlyToItself) {
  for (const EmbeddedClass& embedded : EmbeddedProbeClasses()) {
    std::vector<uint8_t> bytes(embedded.bytes.begin(), embedded.bytes.end());
    EXPECT_TRUE(Contains(bytes, {embedded.name.begin(), embedded.name.end()})) << embedded.name;
    for (const EmbeddedClass& referred : EmbeddedProbeClasses()) {
      const absl::Status status =
          RenameProbeClass(bytes, referred.name, absl::StrCat("other/", referred.name.substr(17)));
      EXPECT_TRUE(status.ok()) << status;
    }
    // Classes that all sets share keep their names.
    for (const absl::string_view name : {kMetricsClass, kWaitClass}) {
      const absl::Status shared = RenameProbeClass(bytes, name, "other/Shared");
      EXPECT_TRUE(shared.ok()) << shared;
    }
    const absl::string_view kept = "java/lang/invoke/JTrace";
    EXPECT_FALSE(Contains(bytes, {kept.begin(), kept.end()})) << embedded.name;
  }
}

}  // namespace
}  // namespace jtrace::calls
