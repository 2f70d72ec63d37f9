#include "postproc/fleet/stable_names.h"

#include <gmock/gmock.h>

#include "postproc/fleet/stable_ids.h"

namespace jtrace::postproc::fleet {
namespace {

TEST(StableNamesTest, NumbersOfTheJvmAreLeftOut) {
  const std::pair<const char*, const char*> cases[] = {
      {"a.B$$Lambda/0x0000000800c03000", "a.B$$Lambda"},
      {"a.B$$Lambda$14/0x0000000800c03000", "a.B$$Lambda"},
      {"a.B$$Lambda$14", "a.B$$Lambda"},
      {"a.B$$Lambda+0x00007f", "a.B$$Lambda"},
      {"a.Hidden/0x800c", "a.Hidden"},
      {"com.sun.proxy.$Proxy12", "$Proxy"},
      {"jdk.proxy2.$Proxy7", "$Proxy"},
      {"$Proxy0", "$Proxy"},
      {"com.acme.$Proxy3", "com.acme.$Proxy"},
      {"jdk.internal.reflect.GeneratedMethodAccessor12",
       "jdk.internal.reflect.GeneratedMethodAccessor"},
      {"sun.reflect.GeneratedConstructorAccessor3",
       "jdk.internal.reflect.GeneratedConstructorAccessor"},
      {"sun.reflect.GeneratedSerializationConstructorAccessor1",
       "jdk.internal.reflect.GeneratedSerializationConstructorAccessor"},
      {"java.lang.invoke.LambdaForm$MH012", "java.lang.invoke.LambdaForm$MH"},
      {"java.lang.invoke.LambdaForm$DMH/0x0000000800c8", "java.lang.invoke.LambdaForm$DMH"},
      {"a.B$$EnhancerBySpringCGLIB$$1a2b3c4d", "a.B$$EnhancerBySpringCGLIB"},
      {"a.B$$SpringCGLIB$$0", "a.B$$SpringCGLIB"},
      {"a.B$$EnhancerBySpringCGLIB$$1a2b$$FastClassBySpringCGLIB$$3c4d",
       "a.B$$EnhancerBySpringCGLIB$$FastClassBySpringCGLIB"},
      {"a.B$$SpringCGLIB$$FastClass$$0$$SpringCGLIB$$1",
       "a.B$$SpringCGLIB$$FastClass$$0$$SpringCGLIB"}};
  for (const auto& [name, stable] : cases) EXPECT_EQ(StableClassName(name), stable) << name;
}

// Names that only look like these, and that a compiler chose.
TEST(StableNamesTest, OtherNamesStay) {
  for (const char* name :
       {"a.B", "a.B$1", "a.B$2$C", "a.Proxy12", "a.B$Proxy12", "com.acme.GeneratedMethodAccessor12",
        "a.LambdaForm$MH1", "a.B$$Lambda$x", "a.MyCGLIB$$zz", "a.MyCGLIB$$1a$B",
        "java.lang.invoke.LambdaForm$Holder", "a.B/0xyz"}) {
    EXPECT_EQ(StableClassName(name), name);
  }
}

TEST(StableNamesTest, AMethodIsItsClassNameAndDescriptor) {
  TraceModel model;
  const RoutineId id = model.InternRoutine("a.B$$Lambda.get(String) [loader 2]");
  model.SetMember(id, {"a.B$$Lambda$7", "get", "(Ljava/lang/String;)I"});
  const StableRoutine routine = MakeStable(model, id);
  EXPECT_EQ(routine.identity, "a.B$$Lambda.get(Ljava/lang/String;)I");
  EXPECT_EQ(routine.shown, "a.B$$Lambda.get(String)");
  EXPECT_EQ(routine.class_name, "a.B$$Lambda");
  EXPECT_EQ(routine.id, StableId(routine.identity));
}

TEST(StableNamesTest, WhatIsNoMethodIsItsName) {
  TraceModel model;
  const StableRoutine routine = MakeStable(model, model.InternRoutine("[thrown] a.Oops"));
  EXPECT_EQ(routine.identity, "[thrown] a.Oops");
  EXPECT_EQ(routine.class_name, "");
}

// The published values of FNV-1a.
TEST(StableIdsTest, AreThoseOfFnv) {
  EXPECT_EQ(static_cast<uint64_t>(StableId("")), 0xcbf29ce484222325U);
  EXPECT_EQ(static_cast<uint64_t>(StableId("foobar")), 0x85944171f73967e8U);
  EXPECT_EQ(static_cast<uint64_t>(PathHash().high()), 0x6c62272e07bb0142U);
  EXPECT_EQ(static_cast<uint64_t>(PathHash().low()), 0x62b821756295c58dU);
}

// Byte by byte, with carries by hand.
TEST(StableIdsTest, APathIsTheHashOfItsLines) {
  uint64_t high = 0x6c62272e07bb0142U;
  uint64_t low = 0x62b821756295c58dU;
  for (const char c : std::string("a.B.f()V\na.B.g(I)I\n")) {
    low ^= static_cast<uint8_t>(c);
    // times 2^88 + 0x13b
    const uint64_t low_part = (low & 0xffffffffU) * 0x13b;
    const uint64_t middle = (low >> 32) * 0x13b + (low_part >> 32);
    high = high * 0x13b + (middle >> 32) + (low << 24);
    low = middle << 32 | (low_part & 0xffffffffU);
  }
  const PathHash path = PathHash().Below("a.B.f()V").Below("a.B.g(I)I");
  EXPECT_EQ(static_cast<uint64_t>(path.high()), high);
  EXPECT_EQ(static_cast<uint64_t>(path.low()), low);
}

}  // namespace
}  // namespace jtrace::postproc::fleet
