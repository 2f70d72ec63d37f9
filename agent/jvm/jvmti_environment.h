// Environments of the JVM Tool Interface (JVMTI). All environments of the agent are opened here.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "agent/signal_safe/agent_work_scope.h"

namespace jtrace::jvm {

// Opens the session's environment, which exists until the JVM ends. Any thread. Unimplemented: the
// JVM is not HotSpot, or has no JVMTI 11. Unavailable: the JVM is between its phases OnLoad and
// live, or ends.
absl::StatusOr<jvmtiEnv*> OpenMainEnvironment(JavaVM* vm);
// The same in a JVM that may still be starting: waits until it is live, for 20 s at most. Only on
// the thread that handles attaches, which a starting JVM does not need.
absl::StatusOr<jvmtiEnv*> OpenMainEnvironmentOnceLive(JavaVM* vm);

// An environment of one owner, so that its callbacks, events and capabilities are independent of
// those of others. It is opened at the first use, so that the JVM enables nothing that is not used.
//
// Any thread, unless noted. Threads that open it at the same time get the same environment.
class Environment {
 public:
  // `owner` is what callbacks find (kCallback, OwnerOf).
  Environment(JavaVM* vm, void* owner, const jvmtiEventCallbacks& callbacks)
      : vm_(vm), owner_(owner), callbacks_(callbacks) {}
  ~Environment() { Dispose(); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  // Opens the environment, unless it is open, and returns it. Null: the JVM gives none.
  jvmtiEnv* Open() ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns the environment. Null: it is not open.
  jvmtiEnv* get() const { return env_.load(std::memory_order_acquire); }

  // The following need an open environment.

  // Adds capabilities of `wanted` that the JVM offers now. Returns all that the environment has.
  jvmtiCapabilities AddCapabilities(const jvmtiCapabilities& wanted) ABSL_LOCKS_EXCLUDED(mutex_);
  // Adds the capability for events of virtual threads (JDK 21). False: the JVM does not offer it.
  bool AddVirtualThreads();
  // Enables the events until Stop. Error: of the first event that the JVM refuses.
  absl::Status Enable(std::span<const jvmtiEvent> events) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status Enable(std::initializer_list<jvmtiEvent> events) {
    return Enable({events.begin(), events.size()});
  }
  // Enables an extension event of HotSpot by its name, until the environment is disposed of. False:
  // this JVM does not have the event.
  bool EnableExtension(absl::string_view name, jvmtiExtensionEvent callback);

  // Disables the events of Enable and gives back the capabilities of AddCapabilities: a JVM may be
  // slower as long as they are held. Does nothing if the environment is not open.
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);
  // Callbacks that have begun may still run afterwards. Open then opens a new environment.
  void Dispose() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  JavaVM* const vm_;
  void* const owner_;
  const jvmtiEventCallbacks callbacks_;
  // Held over GetEnv, too. No code that holds it waits for another Java thread.
  absl::Mutex mutex_;
  std::atomic<jvmtiEnv*> env_{nullptr};  // changed under the mutex
  jvmtiCapabilities added_ ABSL_GUARDED_BY(mutex_) = {};
  std::vector<jvmtiEvent> enabled_ ABSL_GUARDED_BY(mutex_);
};

// The owner of an environment. Null in a late callback, whose environment has been disposed of.
template <typename T>
T* OwnerOf(jvmtiEnv* env) {
  void* owner = nullptr;
  env->GetEnvironmentLocalStorage(&owner);
  return static_cast<T*>(owner);
}

template <auto method>
struct OwnersMethod;
template <typename T, typename... Arguments, void (T::*method)(Arguments...)>
struct OwnersMethod<method> {
  static void JNICALL Call(jvmtiEnv* env, Arguments... arguments) {
    if (T* const owner = OwnerOf<T>(env)) (owner->*method)(arguments...);
  }
};

// The callback of an event as a method of the environment's owner, which takes the arguments that
// follow the environment.
template <auto method>
inline constexpr auto kCallback = signal_safe::kRunAsAgent<OwnersMethod<method>::Call>;

// Events of JDK 21 and later.
inline constexpr auto kVirtualThreadStart = static_cast<jvmtiEvent>(87);
inline constexpr auto kVirtualThreadEnd = static_cast<jvmtiEvent>(88);

// JDK 17's callbacks followed by those of the newer events; pass sizeof(Callbacks) to
// SetEventCallbacks. A JVM that does not know them ignores the rest.
struct Callbacks {
  jvmtiEventCallbacks base;
  jvmtiEventThreadStart virtual_thread_start;
  jvmtiEventThreadEnd virtual_thread_end;
};
static_assert(sizeof(jvmtiEventCallbacks) == (86 - 50 + 1) * sizeof(void*),
              "the table ends at SampledObjectAlloc (86), where JDK 21's continues");

// The result of AddCapabilities.
struct GrantedCapabilities {
  bool virtual_threads = false;  // requested, and the JVM has them (JDK 21)
  // What users call the capabilities that the JVM refuses: most JVMs offer some only at load.
  std::vector<std::string> refused;
};

// Adds those of `wanted` that the JVM offers and, if requested, events of virtual threads.
absl::StatusOr<GrantedCapabilities> AddCapabilities(jvmtiEnv* env, jvmtiCapabilities wanted,
                                                    bool virtual_threads);

// Enables or disables the events for all threads. Error: of the first event that the JVM refuses.
absl::Status EnableEvents(jvmtiEnv* env, std::span<const jvmtiEvent> events);
absl::Status DisableEvents(jvmtiEnv* env, std::span<const jvmtiEvent> events);

}  // namespace jtrace::jvm
