// JVMs that are refused: too old ones, and those that are not HotSpot.
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "agent/session/jvm_session.h"

namespace jtrace {
namespace {

// The functions of a JVM that the start asks before anything else.
struct FakeJvm {
  JavaVM vm{};
  JNIInvokeInterface_ functions{};
  jvmtiEnv env{};
  jvmtiInterface_1_ tools{};
  bool has_jvmti_11 = true;
  const char* name = nullptr;
  bool is_disposed = false;
};

FakeJvm* the_fake;

jint GetEnv(JavaVM*, void** env, jint version) {
  if (!the_fake->has_jvmti_11 && version == JVMTI_VERSION_11) return JNI_EVERSION;
  *env = &the_fake->env;
  return JNI_OK;
}

jvmtiError GetSystemProperty(jvmtiEnv*, const char* property, char** value) {
  if (the_fake->name == nullptr || std::strcmp(property, "java.vm.name") != 0) {
    return JVMTI_ERROR_NOT_AVAILABLE;
  }
  *value = strdup(the_fake->name);
  return JVMTI_ERROR_NONE;
}

jvmtiError Deallocate(jvmtiEnv*, unsigned char* memory) {
  std::free(memory);
  return JVMTI_ERROR_NONE;
}

jvmtiError DisposeEnvironment(jvmtiEnv*) {
  the_fake->is_disposed = true;
  return JVMTI_ERROR_NONE;
}

std::string MessageOf(FakeJvm& fake) {
  the_fake = &fake;
  fake.functions.GetEnv = GetEnv;
  fake.vm.functions = &fake.functions;
  fake.tools.GetSystemProperty = GetSystemProperty;
  fake.tools.Deallocate = Deallocate;
  fake.tools.DisposeEnvironment = DisposeEnvironment;
  fake.env.functions = &fake.tools;
  return std::string(JvmSession::OpenAtLoad(&fake.vm, Options()).status().message());
}

TEST(ForeignJvmTest, OldOnesAreRefusedWithTheReleasesThatServe) {
  FakeJvm fake;
  fake.has_jvmti_11 = false;
  EXPECT_EQ(MessageOf(fake), "this JVM has no JVMTI 11; use JDK 11 or later");
}

TEST(ForeignJvmTest, OthersThanHotSpotAreRefusedByName) {
  FakeJvm fake;
  fake.name = "Eclipse OpenJ9 VM";
  EXPECT_EQ(MessageOf(fake),
            "this JVM is Eclipse OpenJ9 VM, not HotSpot; use an OpenJDK from 11 to 27");
  EXPECT_TRUE(fake.is_disposed);
  FakeJvm nameless;
  EXPECT_EQ(MessageOf(nameless), "this JVM is unknown, not HotSpot; use an OpenJDK from 11 to 27");
}

}  // namespace
}  // namespace jtrace
