#include "agent/probes/class_definer.h"

#include <map>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "agent/probes/layout_check.h"

namespace jtrace {
namespace {

absl::Status PendingException(JNIEnv* jni, absl::string_view what) {
  jni->ExceptionClear();
  return absl::FailedPreconditionError(absl::StrCat("this JVM cannot run the probes: ", what));
}

absl::StatusOr<std::vector<uint8_t>> Patched(const EmbeddedClass& embedded,
                                             const ProbeClassSetup& setup) {
  if (embedded.name == kProbeClass) return PatchProbeClass(embedded.bytes, setup.probe);
  if (embedded.name == kClockClass) return PatchClockClass(embedded.bytes, setup.clock);
  if (embedded.name == kExitsClass) return PatchExitsClass(embedded.bytes, setup.exit_share);
  return std::vector<uint8_t>(embedded.bytes.begin(), embedded.bytes.end());
}

// The classes refer to one another by name.
absl::Status Renumber(std::vector<uint8_t>& bytes, int number) {
  if (number == 0) return absl::OkStatus();
  for (const EmbeddedClass& referred : EmbeddedProbeClasses()) {
    const std::string name(referred.name);
    absl::Status status = RenameProbeClass(bytes, name, NumberedName(name, number));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<jclass> DefineNumbered(JNIEnv* jni, const EmbeddedClass& embedded,
                                      const ProbeClassSetup& setup) {
  absl::StatusOr<std::vector<uint8_t>> bytes = Patched(embedded, setup);
  if (!bytes.ok()) return bytes.status();
  absl::Status status = Renumber(*bytes, setup.number);
  if (!status.ok()) return status;
  // Loader null is the boot loader; the package belongs to java.base, and therefore so does the
  // class.
  jclass defined = DefineBootClass(jni, NumberedName(embedded.name, setup.number).c_str(), *bytes);
  if (defined == nullptr) {
    return PendingException(jni, absl::StrCat("cannot define ", embedded.name));
  }
  return defined;
}

// Looking up a static field initializes the class.
absl::Status Initialize(JNIEnv* jni, jclass defined, absl::string_view name) {
  if (name == kLayoutClass) return CheckJavaLayout(jni, defined, LayoutConstantsInJava());
  if (jni->GetStaticFieldID(defined, "ARENA", "J") == nullptr) {
    return PendingException(jni, absl::StrCat("no usable ", name));
  }
  if (name == kChargesClass) return CheckJavaLayout(jni, defined, ChargesConstantsInJava());
  if (name == kClockClass) return CheckJavaLayout(jni, defined, ClockConstantsInJava());
  if (name == kExitsClass) return CheckJavaLayout(jni, defined, ExitsConstantsInJava());
  if (name == kLogClass) return CheckJavaLayout(jni, defined, LogConstantsInJava());
  if (name == kRingClass) return CheckJavaLayout(jni, defined, RingConstantsInJava());
  return absl::OkStatus();
}

bool CallBoolean(JNIEnv* jni, jclass loaded, const char* method) {
  const jmethodID id = jni->GetStaticMethodID(loaded, method, "()Z");
  const bool result = jni->CallStaticBooleanMethod(loaded, id) == JNI_TRUE;
  if (jni->ExceptionCheck() == JNI_FALSE) return result;
  jni->ExceptionClear();
  return false;
}

absl::Status InitializeAll(JNIEnv* jni, const std::map<absl::string_view, jclass>& classes,
                           bool* counts_ticks) {
  for (const auto& [name, defined] : classes) {
    absl::Status status = Initialize(jni, defined, name);
    if (!status.ok()) return status;
  }
  *counts_ticks = CallBoolean(jni, classes.at(kClockClass), "countsTicks");
  return absl::OkStatus();
}

// Up to a tenth of a second, until C2 has compiled the probes.
absl::Status WarmResting(JNIEnv* jni, jclass resting) {
  const jmethodID warm = jni->GetStaticMethodID(resting, "warm", "()V");
  if (warm != nullptr) jni->CallStaticVoidMethod(resting, warm);
  if (jni->ExceptionCheck() == JNI_FALSE) return absl::OkStatus();
  return PendingException(jni, "JTraceResting.warm");
}

}  // namespace

std::string NumberedName(absl::string_view name, int number) {
  return number == 0 ? std::string(name) : absl::StrCat(name, number + 1);
}

jclass DefineBootClass(JNIEnv* jni, const char* name, absl::Span<const uint8_t> bytes) {
  return jni->DefineClass(name, nullptr, reinterpret_cast<const jbyte*>(bytes.data()),
                          static_cast<jsize>(bytes.size()));
}

absl::Status DefineProbeClasses(JNIEnv* jni, const ProbeClassSetup& setup, bool* counts_ticks) {
  absl::Status status;
  std::map<absl::string_view, jclass> classes;
  // All classes before any is initialized: they refer to one another.
  for (const EmbeddedClass& embedded : EmbeddedProbeClasses()) {
    if (embedded.name == kRestingClass && !setup.resting) continue;
    absl::StatusOr<jclass> defined = DefineNumbered(jni, embedded, setup);
    status = defined.status();
    if (!status.ok()) break;
    classes[embedded.name] = *defined;
  }
  if (status.ok()) status = InitializeAll(jni, classes, counts_ticks);
  if (status.ok() && setup.resting) status = WarmResting(jni, classes.at(kRestingClass));
  for (const auto& [name, defined] : classes) jni->DeleteLocalRef(defined);
  return status;
}

}  // namespace jtrace
