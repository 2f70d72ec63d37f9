// JNI's table of functions while the natives of Unsafe are looked for.
#include "agent/events/park_natives.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

namespace jtrace::events {
namespace {

jint JNICALL Register(JNIEnv*, jclass, const JNINativeMethod*, jint) { return JNI_OK; }
jint JNICALL OthersRegister(JNIEnv*, jclass, const JNINativeMethod*, jint) { return JNI_OK; }
jint JNICALL OthersVersion(JNIEnv*) { return JNI_VERSION_10; }

// A JVM with a table of functions, which another agent changes while Unsafe registers its natives.
struct TableJvm {
  JNINativeInterface_ table{};
  bool other_registers = false;  // it replaces RegisterNatives, too
  jvmtiInterface_1_ tools{};
  jvmtiEnv env{};
  JNIEnv jni{};

  TableJvm();
};

TableJvm* the_jvm;

jvmtiError JNICALL GetTable(jvmtiEnv*, jniNativeInterface** copy) {
  *copy = static_cast<jniNativeInterface*>(std::malloc(sizeof(jniNativeInterface)));
  std::memcpy(*copy, &the_jvm->table, sizeof(jniNativeInterface));
  return JVMTI_ERROR_NONE;
}

jvmtiError JNICALL SetTable(jvmtiEnv*, const jniNativeInterface* table) {
  the_jvm->table = *table;
  return JVMTI_ERROR_NONE;
}

jvmtiError JNICALL Free(jvmtiEnv*, unsigned char* memory) {
  std::free(memory);
  return JVMTI_ERROR_NONE;
}

void JNICALL RegisterUnsafe(JNIEnv*, jclass, jmethodID, va_list) {
  EXPECT_NE(the_jvm->table.RegisterNatives, &Register);
  the_jvm->table.GetVersion = &OthersVersion;
  if (the_jvm->other_registers) the_jvm->table.RegisterNatives = &OthersRegister;
}

TableJvm::TableJvm() {
  the_jvm = this;
  table.RegisterNatives = &Register;
  table.FindClass = [](JNIEnv*, const char*) { return reinterpret_cast<jclass>(the_jvm); };
  table.GetStaticMethodID = [](JNIEnv*, jclass, const char*, const char*) {
    return reinterpret_cast<jmethodID>(the_jvm);
  };
  table.CallStaticVoidMethodV = &RegisterUnsafe;
  table.ExceptionCheck = [](JNIEnv*) -> jboolean { return JNI_FALSE; };
  table.DeleteLocalRef = [](JNIEnv*, jobject) {};
  jni.functions = &table;
  tools.GetJNIFunctionTable = &GetTable;
  tools.SetJNIFunctionTable = &SetTable;
  tools.Deallocate = &Free;
  env.functions = &tools;
}

struct NoListener : ParkListener {
  void Unparks(JNIEnv*, jobject) override {}
  void Parked(JNIEnv*, const ParkCall&) override {}
};

TEST(ParkNativesTest, ChangesOfOtherAgentsStay) {
  TableJvm jvm;
  NoListener listener;
  EXPECT_FALSE(ListenToParks(&jvm.env, &jvm.jni, listener).ok());  // there are no natives
  EXPECT_EQ(jvm.table.RegisterNatives, &Register);
  EXPECT_EQ(jvm.table.GetVersion, &OthersVersion);
}

TEST(ParkNativesTest, AnotherFunctionInItsPlaceStays) {
  TableJvm jvm;
  jvm.other_registers = true;
  NoListener listener;
  EXPECT_FALSE(ListenToParks(&jvm.env, &jvm.jni, listener).ok());
  EXPECT_EQ(jvm.table.RegisterNatives, &OthersRegister);
}

}  // namespace
}  // namespace jtrace::events
