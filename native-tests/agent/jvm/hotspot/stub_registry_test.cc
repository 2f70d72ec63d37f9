#include "agent/jvm/hotspot/stub_registry.h"

#include <gtest/gtest.h>

namespace jtrace::jvm {
namespace {

TEST(StubRegistryTest, NamesByAddress) {
  StubRegistry registry;
  registry.Add("b", 200, 300);
  registry.Add("a", 100, 150);
  EXPECT_EQ(registry.Name(100), "a");
  EXPECT_EQ(registry.Name(149), "a");
  EXPECT_EQ(registry.Name(150), "");
  EXPECT_EQ(registry.Name(99), "");
  EXPECT_EQ(registry.Name(299), "b");
}

TEST(StubRegistryTest, LaterCodeReplacesEarlier) {
  StubRegistry registry;
  registry.Add("old", 100, 200);
  registry.Add("new", 100, 150);
  EXPECT_EQ(registry.Name(120), "new");
  EXPECT_EQ(registry.Name(170), "");
}

TEST(StubRegistryTest, PublishesSortedRanges) {
  samples::VmLayout layout;
  StubRegistry registry;
  registry.Publish(&layout);
  EXPECT_EQ(layout.stubs.load(), nullptr);
  registry.Add("method entry point (kind = zerolocals)", 200, 300);
  registry.Add("around", 100, 250);
  registry.Add("Interpreter", 50, 1000);  // hides its codelets
  registry.Publish(&layout);
  const samples::StubTable* const table = layout.stubs.load();
  ASSERT_NE(table, nullptr);
  ASSERT_EQ(table->count, 2u);
  EXPECT_EQ(table->Find(150)->begin, 100u);
  EXPECT_FALSE(table->Find(150)->method_entry);
  EXPECT_EQ(table->Find(220)->begin, 200u);
  EXPECT_TRUE(table->Find(220)->method_entry);
  EXPECT_EQ(table->Find(300), nullptr);
  EXPECT_EQ(table->Find(60), nullptr);
}

}  // namespace
}  // namespace jtrace::jvm
