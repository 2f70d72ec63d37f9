#include "agent/jvm/class_registry.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "native-tests/agent/jvm/hotspot/made_up_jvm.h"

namespace jtrace::jvm {
namespace {

using ::jtrace::testing::MadeUpClass;
using ::jtrace::testing::MadeUpJvm;
using ::jtrace::testing::MadeUpMethod;

class ClassRegistryTest : public ::testing::Test {
 protected:
  ClassRegistryTest() {
    registry_.ReadMethodsFrom(MethodReader(MadeUpClass::Layout()));
    registry_.NumberMethodsLazily(true);
    encoder_.BeginTrace({});
  }

  // As samples do.
  uint32_t NumberAt(const MadeUpMethod& at) {
    if (const uint32_t known = registry_.MethodOf(at.address()); known != 0) return known;
    if (const uint32_t old = registry_.OldMethod(at.address()); old != 0) return old;
    return registry_.DefineMethodAt(at.address());
  }
  std::string NameAt(const MadeUpMethod& at) {
    const uint32_t number = NumberAt(at);
    for (const auto& [name, class_name] : {std::pair("first", "a.First"), {"second", "b.Second"}}) {
      const uint32_t of_class = encoder_.ClassNumber(class_name, 0);
      if (encoder_.MethodNumber(of_class, name, "()V") == number) {
        return absl::StrCat(class_name, ".", name);
      }
    }
    return absl::StrCat("method ", number);
  }

  MadeUpJvm jvm_;
  RecordingClock clock_;
  LoaderIds loaders_{jvm_.vm(), jvm_.env()};
  trace::RecordEncoder encoder_{{}};
  ClassRegistry registry_{jvm_.vm(), jvm_.env(), clock_, loaders_, encoder_};
  MadeUpMethod at_, elsewhere_;
};

TEST_F(ClassRegistryTest, AMethodIsNumberedWhenItIsMet) {
  MadeUpClass first("a/First", {{"first", &at_}});
  EXPECT_EQ(NumberAt(at_), 0u);
  registry_.RecordPrepared(first.handle());
  EXPECT_EQ(registry_.MethodOf(at_.address()), 0u);
  EXPECT_EQ(NameAt(at_), "a.First.first");
  EXPECT_NE(registry_.MethodOf(at_.address()), 0u);
}

TEST_F(ClassRegistryTest, ANewClassTakesTheAddressesOfItsMethods) {
  MadeUpClass first("a/First", {{"first", &at_}});
  registry_.RecordPrepared(first.handle());
  EXPECT_EQ(NameAt(at_), "a.First.first");
  const uint64_t reuses = registry_.reuses();
  registry_.Unload(first.tag);
  MadeUpClass second("b/Second", {{"other", &elsewhere_}, {"second", &at_}});
  registry_.RecordPrepared(second.handle());
  EXPECT_NE(registry_.reuses(), reuses);
  EXPECT_EQ(NameAt(at_), "b.Second.second");
}

TEST_F(ClassRegistryTest, ANewClassTakesThemFromRedefinedMethodsToo) {
  MadeUpClass first("a/First", {{"first", &elsewhere_}});
  registry_.RecordPrepared(first.handle());
  EXPECT_EQ(NameAt(elsewhere_), "a.First.first");
  const auto behind = [&](jmethodID) { return at_.address(); };
  registry_.KeepOldMethods(first.handle(), behind);
  EXPECT_EQ(NameAt(at_), "a.First.first");
  registry_.Unload(first.tag);
  MadeUpClass second("b/Second", {{"second", &at_}});
  registry_.RecordPrepared(second.handle());
  EXPECT_EQ(NameAt(at_), "b.Second.second");
}

TEST_F(ClassRegistryTest, WhatKeepsItsAddressKeepsItsNumber) {
  MadeUpClass first("a/First", {{"first", &at_}});
  registry_.RecordPrepared(first.handle());
  EXPECT_EQ(NameAt(at_), "a.First.first");
  const uint64_t reuses = registry_.reuses();
  MadeUpClass second("b/Second", {{"second", &elsewhere_}});
  registry_.RecordPrepared(second.handle());
  EXPECT_EQ(registry_.reuses(), reuses);
  EXPECT_NE(registry_.MethodOf(at_.address()), 0u);
  EXPECT_EQ(NameAt(elsewhere_), "b.Second.second");
}

}  // namespace
}  // namespace jtrace::jvm
