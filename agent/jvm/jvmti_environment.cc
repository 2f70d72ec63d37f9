#include "agent/jvm/jvmti_environment.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "agent/jvm/hotspot/vm_structs.h"
#include "agent/jvm/jvmti_calls.h"

namespace jtrace::jvm {
namespace {

constexpr jint kJvmtiVersion = JVMTI_VERSION_11;

// A JVM that loads much before its main method, or compiles all of it first (-Xcomp), accepts an
// attach seconds before it gives out an environment.
constexpr absl::Duration kMaxStarting = absl::Seconds(20);
constexpr absl::Duration kStartingPoll = absl::Milliseconds(10);

// Bit 44 of the capabilities: can_support_virtual_threads, reserved in JDK 17's header.
constexpr size_t kVirtualThreadsByte = 5;
constexpr unsigned char kVirtualThreadsBit = 0x10;
static_assert(sizeof(jvmtiCapabilities) == 16);

using CapabilityBytes = std::array<unsigned char, sizeof(jvmtiCapabilities)>;

std::vector<std::string> Refused(const jvmtiCapabilities& wanted,
                                 const jvmtiCapabilities& offered) {
  std::vector<std::string> refused;
  const auto check = [&](bool asked, bool given, const char* what) {
    if (asked && !given) refused.emplace_back(what);
  };
  check(wanted.can_tag_objects, offered.can_tag_objects, "distinct class loaders");
  check(wanted.can_generate_object_free_events, offered.can_generate_object_free_events,
        "class unloads");
  check(wanted.can_generate_garbage_collection_events,
        offered.can_generate_garbage_collection_events, "garbage collections");
  check(wanted.can_generate_compiled_method_load_events,
        offered.can_generate_compiled_method_load_events, "compiled methods");
  check(wanted.can_retransform_classes, offered.can_retransform_classes,
        "probes in loaded classes");
  return refused;
}

CapabilityBytes BytesOf(const jvmtiCapabilities& capabilities) {
  CapabilityBytes bytes;
  std::memcpy(bytes.data(), &capabilities, sizeof(capabilities));
  return bytes;
}

template <typename Operation>
jvmtiCapabilities Combine(const jvmtiCapabilities& a, const jvmtiCapabilities& b,
                          Operation operation) {
  const CapabilityBytes left = BytesOf(a);
  const CapabilityBytes right = BytesOf(b);
  CapabilityBytes result;
  for (size_t i = 0; i < result.size(); ++i) {
    result[i] = static_cast<unsigned char>(operation(left[i], right[i]));
  }
  jvmtiCapabilities combined;
  std::memcpy(&combined, result.data(), sizeof(combined));
  return combined;
}

absl::Status SetEvents(jvmtiEnv* env, jvmtiEventMode mode, std::span<const jvmtiEvent> events) {
  absl::Status first;
  for (const jvmtiEvent event : events) {
    const jvmtiError error = env->SetEventNotificationMode(mode, event, nullptr);
    first.Update(ToStatus(env, error, "SetEventNotificationMode"));
  }
  return first;
}

// The probes and the stack walker rely on HotSpot's structures. A HotSpot that does not describe
// them is accepted, and its samples have no Java frames.
absl::Status CheckIsHotSpot(JavaVM* vm, jvmtiEnv* env) {
  const auto tables = VmStructs::Of(reinterpret_cast<const void*>(vm->functions->GetEnv));
  if (tables.ok()) return absl::OkStatus();
  Allocated<char> property(env);
  const bool has_name = env->GetSystemProperty("java.vm.name", property.out()) == JVMTI_ERROR_NONE;
  const std::string name = has_name ? property.get() : "unknown";
  if (absl::StrContains(name, "OpenJDK") || absl::StrContains(name, "HotSpot")) {
    return absl::OkStatus();
  }
  return absl::UnimplementedError(
      absl::StrCat("this JVM is ", name, ", not HotSpot; use an OpenJDK from 11 to 27"));
}

}  // namespace

absl::StatusOr<jvmtiEnv*> OpenMainEnvironment(JavaVM* vm) {
  jvmtiEnv* env = nullptr;
  const jint code = vm->GetEnv(reinterpret_cast<void**>(&env), kJvmtiVersion);
  if (code == JNI_OK) {
    absl::Status status = CheckIsHotSpot(vm, env);
    if (status.ok()) return env;
    env->DisposeEnvironment();
    return status;
  }
  if (code == JNI_EVERSION) {
    return absl::UnimplementedError("this JVM has no JVMTI 11; use JDK 11 or later");
  }
  return absl::UnavailableError("this JVM is still starting, or is ending; try again");
}

absl::StatusOr<jvmtiEnv*> OpenMainEnvironmentOnceLive(JavaVM* vm) {
  const absl::Time deadline = absl::Now() + kMaxStarting;
  absl::StatusOr<jvmtiEnv*> env = OpenMainEnvironment(vm);
  while (absl::IsUnavailable(env.status()) && absl::Now() < deadline) {
    absl::SleepFor(kStartingPoll);
    env = OpenMainEnvironment(vm);
  }
  return env;
}

jvmtiEnv* Environment::Open() {
  if (jvmtiEnv* const env = get(); env != nullptr) return env;
  const absl::MutexLock lock(&mutex_);
  jvmtiEnv* env = get();
  if (env != nullptr) return env;
  if (vm_->GetEnv(reinterpret_cast<void**>(&env), kJvmtiVersion) != JNI_OK) return nullptr;
  env->SetEnvironmentLocalStorage(owner_);
  env->SetEventCallbacks(&callbacks_, sizeof(callbacks_));
  env_.store(env, std::memory_order_release);
  return env;
}

jvmtiCapabilities Environment::AddCapabilities(const jvmtiCapabilities& wanted) {
  jvmtiEnv* const env = get();
  jvmtiCapabilities offered = {};
  env->GetPotentialCapabilities(&offered);
  const jvmtiCapabilities added = Combine(wanted, offered, std::bit_and<>());
  if (env->AddCapabilities(&added) == JVMTI_ERROR_NONE) {
    const absl::MutexLock lock(&mutex_);
    added_ = Combine(added_, added, std::bit_or<>());
  }
  jvmtiCapabilities held = {};
  env->GetCapabilities(&held);
  return held;
}

bool Environment::AddVirtualThreads() {
  const auto granted = jvm::AddCapabilities(get(), {}, /*virtual_threads=*/true);
  if (!granted.ok() || !granted->virtual_threads) return false;
  CapabilityBytes added = {};
  added[kVirtualThreadsByte] = kVirtualThreadsBit;
  jvmtiCapabilities virtual_threads;
  std::memcpy(&virtual_threads, added.data(), sizeof(virtual_threads));
  const absl::MutexLock lock(&mutex_);
  added_ = Combine(added_, virtual_threads, std::bit_or<>());
  return true;
}

absl::Status Environment::Enable(std::span<const jvmtiEvent> events) {
  {
    const absl::MutexLock lock(&mutex_);
    enabled_.insert(enabled_.end(), events.begin(), events.end());
  }
  return EnableEvents(get(), events);
}

bool Environment::EnableExtension(absl::string_view name, jvmtiExtensionEvent callback) {
  jvmtiEnv* const env = get();
  const auto free = [env](void* memory) { env->Deallocate(static_cast<unsigned char*>(memory)); };
  jint count = 0;
  jvmtiExtensionEventInfo* infos = nullptr;
  if (env->GetExtensionEvents(&count, &infos) != JVMTI_ERROR_NONE) return false;
  bool is_enabled = false;
  for (jint i = 0; i < count; ++i) {
    if (infos[i].id == name) {
      const auto event = static_cast<jvmtiEvent>(infos[i].extension_event_index);
      // HotSpot wants both, although JVMTI says that the callback alone enables the event.
      is_enabled = env->SetExtensionEventCallback(event, callback) == JVMTI_ERROR_NONE &&
                   env->SetEventNotificationMode(JVMTI_ENABLE, event, nullptr) == JVMTI_ERROR_NONE;
    }
    for (jint p = 0; p < infos[i].param_count; ++p) free(infos[i].params[p].name);
    free(infos[i].params);
    free(infos[i].id);
    free(infos[i].short_description);
  }
  free(infos);
  return is_enabled;
}

void Environment::Stop() {
  jvmtiEnv* const env = get();
  if (env == nullptr) return;
  jvmtiCapabilities added;
  std::vector<jvmtiEvent> enabled;
  {
    const absl::MutexLock lock(&mutex_);
    added = std::exchange(added_, {});
    enabled = std::exchange(enabled_, {});
  }
  DisableEvents(env, enabled).IgnoreError();
  env->RelinquishCapabilities(&added);
}

void Environment::Dispose() {
  const absl::MutexLock lock(&mutex_);
  jvmtiEnv* const env = env_.exchange(nullptr);
  if (env == nullptr) return;
  added_ = {};
  enabled_.clear();
  env->DisposeEnvironment();
}

absl::StatusOr<GrantedCapabilities> AddCapabilities(jvmtiEnv* env, jvmtiCapabilities wanted,
                                                    bool virtual_threads) {
  jvmtiCapabilities potential = {};
  absl::Status status =
      ToStatus(env, env->GetPotentialCapabilities(&potential), "GetPotentialCapabilities");
  if (!status.ok()) return status;
  CapabilityBytes offered;
  CapabilityBytes asked;
  std::memcpy(offered.data(), &potential, sizeof(potential));
  std::memcpy(asked.data(), &wanted, sizeof(wanted));
  if (virtual_threads) asked[kVirtualThreadsByte] |= kVirtualThreadsBit;
  GrantedCapabilities granted = {.refused = Refused(wanted, potential)};
  for (size_t i = 0; i < asked.size(); ++i) asked[i] &= offered[i];
  std::memcpy(&wanted, asked.data(), sizeof(wanted));
  status = ToStatus(env, env->AddCapabilities(&wanted), "AddCapabilities");
  if (!status.ok()) return status;
  granted.virtual_threads = (asked[kVirtualThreadsByte] & kVirtualThreadsBit) != 0;
  return granted;
}

absl::Status EnableEvents(jvmtiEnv* env, std::span<const jvmtiEvent> events) {
  return SetEvents(env, JVMTI_ENABLE, events);
}

absl::Status DisableEvents(jvmtiEnv* env, std::span<const jvmtiEvent> events) {
  return SetEvents(env, JVMTI_DISABLE, events);
}

}  // namespace jtrace::jvm
