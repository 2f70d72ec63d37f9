#include "agent/calls/probe_class.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "agent/calls/embedded_classes.h"
#include "agent/calls/java_layout.h"

namespace jtrace::calls {
namespace {

// The literals in place of values in JTraceProbe.java, JTraceExits.java (the share),
// JTraceMetrics.java (the layout) and JTraceClock.java (the function and the rate).
constexpr uint64_t kArenaPlaceholder = 0x4A54524143450001;
constexpr uint64_t kFlatPlaceholder = 0x4A54524143450002;
constexpr uint64_t kThreadSparePlaceholder = 0x4A54524143450003;
constexpr uint64_t kLogPlaceholder = 0x4A54524143450004;
constexpr uint64_t kClockPlaceholder = 0x4A54524143450005;
constexpr uint64_t kMetricsPlaceholder = 0x4A54524143450006;
constexpr uint64_t kBlocksPlaceholder = 0x4A54524143450007;
constexpr uint64_t kBlockOwnersPlaceholder = 0x4A5452414345000B;
constexpr uint64_t kExitSharePlaceholder = 0x4A54524143450031;
constexpr uint64_t kCallSitesPlaceholder = 0x4A54524143450009;
constexpr uint64_t kAllocLayoutPlaceholder = 0x4A54524143450021;
constexpr uint64_t kTicksFunctionPlaceholder = 0x4A54524143450011;
constexpr uint64_t kTicksPerNanoPlaceholder = 0x4A54524143450012;

struct Literal {
  uint64_t placeholder;
  uint64_t value;
};

// CONSTANT_Long_info (JVMS §4.4.5): tag and eight bytes, big-endian.
std::array<uint8_t, 9> LongConstant(uint64_t value) {
  std::array<uint8_t, 9> bytes = {5};
  for (int i = 0; i < 8; ++i) bytes[1 + i] = static_cast<uint8_t>(value >> (56 - 8 * i));
  return bytes;
}

// CONSTANT_Utf8_info (JVMS §4.4.7): tag, length, bytes.
std::vector<uint8_t> Utf8Constant(absl::string_view text) {
  std::vector<uint8_t> bytes(3 + text.size());
  bytes[0] = 1;
  bytes[1] = static_cast<uint8_t>(text.size() >> 8);
  bytes[2] = static_cast<uint8_t>(text.size());
  std::copy(text.begin(), text.end(), bytes.begin() + 3);
  return bytes;
}

absl::Status Replace(std::vector<uint8_t>& bytes, absl::Span<const uint8_t> from,
                     absl::Span<const uint8_t> to, absl::string_view what) {
  const auto found = std::search(bytes.begin(), bytes.end(), from.begin(), from.end());
  if (found == bytes.end() ||
      std::search(found + 1, bytes.end(), from.begin(), from.end()) != bytes.end()) {
    return absl::InternalError(absl::StrCat("probe class: no single constant ", what));
  }
  const auto rest = bytes.erase(found, found + static_cast<ptrdiff_t>(from.size()));
  bytes.insert(rest, to.begin(), to.end());
  return absl::OkStatus();
}

absl::Status Replace(std::vector<uint8_t>& bytes, uint64_t placeholder, uint64_t value) {
  return Replace(bytes, LongConstant(placeholder), LongConstant(value),
                 absl::StrCat(absl::Hex(placeholder)));
}

absl::StatusOr<std::vector<uint8_t>> ReplaceAll(absl::Span<const uint8_t> class_bytes,
                                                absl::Span<const Literal> literals) {
  std::vector<uint8_t> bytes(class_bytes.begin(), class_bytes.end());
  for (const Literal& literal : literals) {
    absl::Status status = Replace(bytes, literal.placeholder, literal.value);
    if (!status.ok()) return status;
  }
  return bytes;
}

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

// Renames the class and those that it refers to by name.
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

// Initializes a class, by looking up a static field, and checks its constants.
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

// Runs the probes until C2 has compiled them: up to a tenth of a second.
absl::Status WarmResting(JNIEnv* jni, jclass resting) {
  const jmethodID warm = jni->GetStaticMethodID(resting, "warm", "()V");
  if (warm != nullptr) jni->CallStaticVoidMethod(resting, warm);
  if (jni->ExceptionCheck() == JNI_FALSE) return absl::OkStatus();
  return PendingException(jni, "JTraceResting.warm");
}

}  // namespace

absl::Status RenameProbeClass(std::vector<uint8_t>& bytes, absl::string_view from,
                              absl::string_view to) {
  const std::vector<uint8_t> constant = Utf8Constant(from);
  if (std::search(bytes.begin(), bytes.end(), constant.begin(), constant.end()) == bytes.end()) {
    return absl::OkStatus();
  }
  return Replace(bytes, constant, Utf8Constant(to), from);
}

absl::StatusOr<std::vector<uint8_t>> PatchProbeClass(absl::Span<const uint8_t> class_bytes,
                                                     const ProbeConstants& constants) {
  return ReplaceAll(class_bytes, {{kArenaPlaceholder, constants.arena},
                                  {kFlatPlaceholder, constants.flat},
                                  {kThreadSparePlaceholder, constants.thread_spare},
                                  {kLogPlaceholder, constants.log},
                                  {kClockPlaceholder, static_cast<uint64_t>(constants.clock)},
                                  {kMetricsPlaceholder, constants.metrics},
                                  {kBlocksPlaceholder, constants.blocks},
                                  {kBlockOwnersPlaceholder, constants.block_owners},
                                  {kCallSitesPlaceholder, constants.call_sites}});
}

absl::StatusOr<std::vector<uint8_t>> PatchMetricsClass(absl::Span<const uint8_t> class_bytes,
                                                       const signal_safe::AllocLayout& layout) {
  const bool fits = (layout.allocated_bytes | layout.tlab_top | layout.tlab_start) <= 0xFFFF;
  const uint64_t packed = uint64_t{layout.allocated_bytes} | uint64_t{layout.tlab_top} << 16 |
                          uint64_t{layout.tlab_start} << 32;
  return ReplaceAll(class_bytes, {{kAllocLayoutPlaceholder, fits ? packed : 0}});
}

absl::StatusOr<std::vector<uint8_t>> PatchClockClass(absl::Span<const uint8_t> class_bytes,
                                                     const ClockConstants& constants) {
  return ReplaceAll(
      class_bytes, {{kTicksFunctionPlaceholder, constants.ticks_function},
                    {kTicksPerNanoPlaceholder, std::bit_cast<uint64_t>(constants.ticks_per_nano)}});
}

absl::StatusOr<std::vector<uint8_t>> PatchExitsClass(absl::Span<const uint8_t> class_bytes,
                                                     double share) {
  return ReplaceAll(class_bytes, {{kExitSharePlaceholder, std::bit_cast<uint64_t>(share)}});
}

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

}  // namespace jtrace::calls
