// The JVM's classes and methods: class-load and unload records (S3.3), and the numbers of methods
// by the keys in the frames of samples (MethodKey).
//
// Threads: RecordPrepared on the Java thread of the event or of a start; Unload on the thread of
// ObjectFree; the queries by number or key on any. Signal handlers use nothing of this.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/synchronization/mutex.h"
#include "agent/base/clock.h"
#include "agent/jvm/class_locations.h"
#include "agent/jvm/hotspot/method_reader.h"
#include "agent/jvm/hotspot/nmethod_reader.h"
#include "agent/jvm/loader_ids.h"
#include "agent/trace/record_encoder.h"

namespace jtrace::jvm {

// The jmethodID of a method, or the address of HotSpot's Method if it has no id. Most have none:
// ids are created only for methods that are compiled or redefined, or when other code requests them
// (method_reader.h). After its class is unloaded, a Method's address may be reused. A sample that
// was taken before the unload and is read after it, within 0.1 s, may then name the wrong method.
using MethodKey = uintptr_t;
inline MethodKey KeyOf(jmethodID id) { return reinterpret_cast<MethodKey>(id); }

// Why a thread waits in a method.
enum class MethodWait : uint8_t { kNone, kPark, kSleep };

class ClassRegistry {
 public:
  ClassRegistry(JavaVM* vm, jvmtiEnv* env, const RecordingClock& clock, LoaderIds& loaders,
                trace::RecordEncoder& encoder)
      : vm_(vm), env_(env), clock_(clock), loaders_(loaders), encoder_(encoder) {}

  ClassLocations& locations() { return locations_; }

  // Prepares to read methods from the JVM's memory, before the first class is recorded.
  // `libjvm_address`: any address in libjvm.
  void ReadJvm(const void* libjvm_address);
  // The same through `memory`; for tests.
  void ReadMethodsFrom(const MethodReader& memory) { memory_ = memory; }
  // If `on`, a method gets its number when a sample first contains it, and records of classes only
  // count methods: naming all methods of all classes takes longer than all other work of samples.
  // A new class then removes earlier methods at the addresses of its own.
  void NumberMethodsLazily(bool on) { numbers_lazily_ = on; }
  // Calls `needed`, under this registry's mutex, as soon as some methods may be known by their
  // jmethodIDs only: they were redefined, or the JVM's memory could not be read.
  void OnMethodIdsRequired(std::function<void()> needed);

  // Visits the methods of a prepared class, read from the JVM's memory; false: that cannot be read.
  bool ForEachMethod(jclass klass, MethodReader::Visitor visit) const;
  // Records a prepared class with its methods. Ignores a class that was recorded before.
  void RecordPrepared(jclass klass);
  // Records all classes that are already prepared.
  void RecordLoaded(JNIEnv* jni);
  // A recording begins: forgets of which classes an earlier one has records of methods.
  void ForgetRecordedMethods();
  // If the recording wants records of methods (0x20/0x2): adds those of all prepared classes whose
  // methods it lacks. For a class that is prepared later, RecordPrepared adds them.
  void RecordMethodsOfLoaded(JNIEnv* jni);
  // Numbers a recorded class's methods again: it got probes, so that they now have routines, or it
  // is about to be redefined. Their jmethodIDs, which a redefinition keeps, name them from now on.
  void Renumber(jclass klass);
  // Keeps the numbers of the Methods of a class that is about to be redefined. Activations continue
  // in these old Methods, which lose their jmethodIDs. `method_behind`:
  // HotSpotInternals::MethodBehind.
  void KeepOldMethods(jclass klass, absl::FunctionRef<uintptr_t(jmethodID)> method_behind);
  // Forgets the old Methods that no sample has contained. Called before the next redefinition.
  void ForgetUnsampledOldMethods();
  // Returns the Method.id of an old Method; 0 if `method` is not one.
  uint32_t OldMethod(uintptr_t method) const;
  // Returns the ClassDef.id of a loaded class that is not an array; 0 if it cannot be named.
  uint32_t NumberOf(jclass klass);
  // Records that the class with this tag was unloaded (ObjectFree; in JDK 11 to 15 inside a
  // safepoint). Ignores tags of loaders.
  void Unload(jlong tag);
  // Whether a class with this number was recorded and is still loaded. A hidden class may get the
  // name, and so the number, of an unloaded one.
  bool IsLoaded(uint32_t class_id) const;
  // Forgets unloaded classes: no record that is still to be written names them or their methods.
  void Forget(const absl::flat_hash_set<uint32_t>& classes);

  // Returns the Method.id of a method, which its jmethodID names from now on; 0 if the JVM does not
  // name it. On a thread that may call JVMTI, while the method's class is loaded.
  uint32_t DefineMethod(jmethodID id);
  // Returns the Method.id of a Method that was not recorded with its class: because of
  // NumberMethodsLazily, or because a redefinition has made it since. 0: the address has no Method.
  // Not in handlers.
  uint32_t DefineMethodAt(uintptr_t method);

  // Returns the ClassDef.id of a class by HotSpot's Klass, which a sample contains for the object
  // that its thread waits for; 0 if the class was never reported, such as an array class created
  // after the start. A Klass's address may be reused after an unload, as a Method's (MethodKey).
  uint32_t ClassOf(uintptr_t klass) const;
  // Returns the Method.id; 0 if its class was never seen, or if it has no number yet
  // (NumberMethodsLazily).
  uint32_t MethodOf(MethodKey method) const;
  // Grows when a key may name another method than before: caches by key are then stale.
  uint64_t reuses() const { return reuses_.load(std::memory_order_relaxed); }
  // Whether threads that wait in the method are parked or asleep.
  MethodWait WaitIn(MethodKey method) const;
  // Whether the Method.id belongs to the probes' own class.
  bool IsProbe(uint32_t method) const;
  // Returns the Routine.id of a method with probes; 0 if it has none.
  uint32_t RoutineOf(MethodKey method) const;

 private:
  struct Numbers {
    uint32_t class_id = 0;
    uint32_t method = 0;
    uint32_t routine = 0;
    MethodWait wait = MethodWait::kNone;
  };

  struct ClassIdentity {
    uint32_t id = 0;  // ClassDef.id; 0: the class cannot be named
    std::string name;
    uint32_t loader = 0;
    bool is_probe = false;
  };

  ClassIdentity IdentityOf(jclass klass);
  using NumberedMethods = std::vector<std::pair<MethodKey, Numbers>>;
  NumberedMethods MethodsInMemory(jclass klass, const ClassIdentity& identity);
  NumberedMethods MethodsById(jclass klass, const ClassIdentity& identity);
  void Record(const NumberedMethods& methods, bool are_probes);
  // Returns how many methods a new class has; nothing if that cannot be read. Forgets earlier
  // methods at their addresses.
  std::optional<int32_t> CountMethods(jclass klass);
  uint64_t CountedClasses() const;
  // One try of DefineMethodAt. False: a class counted meanwhile may have the address.
  bool TryToDefine(uintptr_t method, uint32_t& number);
  void RequireMethodIds();
  NumberedMethods NumberMethods(jclass klass, const ClassIdentity& identity);
  void RecordMethods(jclass klass, const ClassIdentity& identity);
  // Visits all loaded classes, arrays included.
  void ForEachLoaded(JNIEnv* jni, absl::FunctionRef<void(jclass, jint status)> visit);
  void AddKlass(jclass klass, uint32_t class_id);
  void PrepareArray(jclass klass);
  Numbers NumberMethod(const ClassIdentity& identity, absl::string_view name,
                       absl::string_view descriptor);
  Numbers NumberById(jmethodID id, const ClassIdentity& identity);
  Numbers NumbersOf(MethodKey method) const;
  JNIEnv* Jni() const;

  JavaVM* vm_;
  jvmtiEnv* env_;
  const RecordingClock& clock_;
  LoaderIds& loaders_;
  ClassLocations locations_;
  trace::RecordEncoder& encoder_;
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<MethodKey, Numbers> methods_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<uintptr_t, uint32_t> classes_ ABSL_GUARDED_BY(mutex_);  // by Klass
  std::atomic<uint64_t> reuses_{0};
  uint64_t counted_classes_ ABSL_GUARDED_BY(mutex_) = 0;
  MethodReader memory_;
  std::atomic<bool> numbers_lazily_{false};
  bool requires_method_ids_ ABSL_GUARDED_BY(mutex_) = false;
  std::function<void()> on_method_ids_required_ ABSL_GUARDED_BY(mutex_);
  // How many loaded classes have a ClassDef.id.
  absl::flat_hash_map<uint32_t, uint32_t> loaded_ ABSL_GUARDED_BY(mutex_);
  struct OldMethodNumber {
    uint32_t class_id = 0;
    uint32_t method = 0;
    bool was_sampled = false;
  };
  mutable absl::flat_hash_map<uintptr_t, OldMethodNumber> old_methods_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_set<uint32_t> probe_methods_ ABSL_GUARDED_BY(mutex_);
  // ClassDef.id of the classes of whose methods the recording has records.
  absl::flat_hash_set<uint32_t> with_methods_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<NmethodReader> nmethods_;
};

}  // namespace jtrace::jvm
