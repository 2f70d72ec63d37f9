#include "agent/probes/bridge.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "agent/hot/thread_state.h"
#include "agent/probes/arena_memory.h"
#include "agent/probes/layout_check.h"
#include "agent/probes/probe_class.h"
#include "agent/probes/thread_spare.h"

namespace jtrace {
namespace {

constexpr char kProbeClass[] = "java/lang/invoke/JTraceProbe";
// Holds isCompileConstant, which the probes call.
constexpr char kCompileConstantClass[] = "java/lang/invoke/MethodHandleImpl";

absl::Status PendingException(JNIEnv* jni, absl::string_view what) {
  jni->ExceptionClear();
  return absl::FailedPreconditionError(absl::StrCat("this JVM cannot run the probes: ", what));
}

// Initializes the class, so that no probe has to.
absl::Status Initialize(JNIEnv* jni, jclass loaded, const char* method, const char* descriptor) {
  if (jni->GetStaticMethodID(loaded, method, descriptor) == nullptr) {
    return PendingException(jni, absl::StrCat("no usable ", method, descriptor));
  }
  return absl::OkStatus();
}

absl::Status CheckCompileConstant(JNIEnv* jni) {
  jclass loaded = jni->FindClass(kCompileConstantClass);
  if (loaded == nullptr) return PendingException(jni, kCompileConstantClass);
  absl::Status status = Initialize(jni, loaded, "isCompileConstant", "(Ljava/lang/Object;)Z");
  jni->DeleteLocalRef(loaded);
  return status;
}

absl::Status DefineProbeClass(JNIEnv* jni, const std::string& name,
                              absl::Span<const uint8_t> bytes) {
  // Loader null is the boot loader; the package belongs to java.base, and so the class does.
  jclass defined =
      jni->DefineClass(name.c_str(), nullptr, reinterpret_cast<const jbyte*>(bytes.data()),
                       static_cast<jsize>(bytes.size()));
  if (defined == nullptr) return PendingException(jni, "DefineClass failed");
  absl::Status status = Initialize(jni, defined, "enter", "(I)J");
  if (status.ok()) status = CheckJavaLayout(jni, defined);
  jni->DeleteLocalRef(defined);
  return status;
}

}  // namespace

std::string ProbeClassName(int number) {
  return number == 0 ? kProbeClass : absl::StrCat(kProbeClass, number + 1);
}

bool IsProbeClass(absl::string_view internal_name) {
  return absl::StartsWith(internal_name, kProbeClass);
}

void Probes::Publish() const { hot::published_arena.store(arena_, std::memory_order_release); }

void Probes::ClearCompiled(uint32_t limit) const {
  for (uint32_t routine = 0; routine < std::min(limit, hot::kMaxRoutines); ++routine) {
    SetCompiled(routine, false);
  }
}

void Probes::SetCompiled(uint32_t routine, bool compiled) const {
  if (routine < hot::kMaxRoutines) {
    hot::WriteRelaxed(arena_->compiled[routine], static_cast<uint8_t>(compiled));
  }
}

uint64_t Probes::memory_used() const { return ArenaBytesUsed(*arena_); }

absl::StatusOr<std::unique_ptr<Probes>> Install(jvmtiEnv* jvmti, JNIEnv* jni,
                                                const ProbeOptions& options, int number) {
  absl::StatusOr<hot::Arena*> arena = ReserveArena(options.memory_limit);
  if (!arena.ok()) return arena.status();
  // Each class has eight spare bytes of its own.
  const uint64_t spare = FindThreadSpare(jvmti, jni);
  const ProbeConstants constants = {.arena = reinterpret_cast<uintptr_t>(*arena),
                                    .flat = options.flat,
                                    .thread_spare = spare == 0 ? 0 : spare + 8ull * number};
  absl::StatusOr<std::vector<uint8_t>> bytes = PatchProbeClass(EmbeddedProbeClass(), constants);
  if (!bytes.ok()) return bytes.status();
  const std::string name = ProbeClassName(number);
  if (absl::Status status = RenameProbeClass(*bytes, kProbeClass, name); !status.ok()) {
    return status;
  }
  absl::Status status = CheckCompileConstant(jni);
  if (status.ok()) status = DefineProbeClass(jni, name, *bytes);
  if (!status.ok()) return status;
  auto probes = std::make_unique<Probes>(*arena, name);
  probes->Publish();
  return probes;
}

}  // namespace jtrace
