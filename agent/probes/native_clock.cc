#include "agent/probes/native_clock.h"

#include <time.h>

#include <array>
#include <fstream>
#include <string>

#include "agent/probes/class_definer.h"
#include "agent/probes/probe_class.h"
#include "agent/probes/rseq_word.h"

namespace jtrace {
namespace {

constexpr char kNativeClock[] = "jtrace/NativeClock";

jlong JNICALL Ticks(JNIEnv*, jclass) { return static_cast<jlong>(jtrace_ticks()); }

jlong JNICALL CpuNanos(JNIEnv*, jclass) {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<jlong>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

jlong JNICALL RseqWord(JNIEnv*, jclass) { return reinterpret_cast<jlong>(CurrentRseqWord()); }

JNINativeMethod Method(const char* name, void* function) {
  return {const_cast<char*>(name), const_cast<char*>("()J"), function};
}

}  // namespace

bool TicksAreSteady() {
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string source;
  return std::getline(file, source) && source == kSteadyClockSource;
}

absl::Status DefineNativeClock(JNIEnv* jni) {
  if (jclass known = jni->FindClass(kNativeClock); known != nullptr) {
    jni->DeleteLocalRef(known);
    return absl::OkStatus();
  }
  jni->ExceptionClear();
  jclass defined = DefineBootClass(jni, kNativeClock, EmbeddedNativeClock());
  const std::array methods = {Method("ticks", reinterpret_cast<void*>(&Ticks)),
                              Method("cpuNanos", reinterpret_cast<void*>(&CpuNanos)),
                              Method("rseqWord", reinterpret_cast<void*>(&RseqWord))};
  if (defined == nullptr || jni->RegisterNatives(defined, methods.data(), methods.size()) != 0) {
    jni->ExceptionClear();
    return absl::FailedPreconditionError("this JVM rejects the class of the native clocks");
  }
  jni->DeleteLocalRef(defined);
  return absl::OkStatus();
}

}  // namespace jtrace
