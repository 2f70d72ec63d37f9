// The JVM's classes and methods: class-load and unload records (S3.3), and the numbers of methods
// by the keys in the frames of samples (MethodKey).
//
// Threads: Prepare on the Java thread of the event; Unload on the JVM's thread that frees tags;
// MethodOf anywhere but in a signal handler.
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
#include "agent/jvm/class_sources.h"
#include "agent/jvm/compiled_code_check.h"
#include "agent/jvm/loader_numbers.h"
#include "agent/jvm/method_memory.h"
#include "agent/trace/record_encoder.h"

namespace jtrace::jvm {

// A jmethodID; or HotSpot's Method, if the method has no id. Most have none: ids are created only
// for methods that are compiled or redefined, or when other code requests them (method_memory.h).
// When its class is unloaded, a Method's address may be reused: a sample that was taken before that
// and read after it, at most a tenth of a second, may then show the wrong method.
using MethodKey = uintptr_t;
inline MethodKey KeyOf(jmethodID id) { return reinterpret_cast<MethodKey>(id); }

// Why a thread waits in a method.
enum class MethodWait : uint8_t { kNone, kPark, kSleep };

class ClassRegistry {
 public:
  ClassRegistry(JavaVM* vm, jvmtiEnv* env, const SessionClock& clock, LoaderNumbers& loaders,
                trace::RecordEncoder& encoder)
      : vm_(vm), env_(env), clock_(clock), loaders_(loaders), encoder_(encoder) {}

  ClassSources& sources() { return sources_; }

  // Prepares reading methods from the JVM: call it before the first class is recorded. Any address
  // in libjvm.
  void ReadJvm(const void* libjvm_address);
  // The same, if it is known where the JVM has what is read.
  void ReadMethodsFrom(const MethodMemory& memory) { memory_ = memory; }
  // Whether methods get their numbers when a sample has them, and records of classes only count
  // them. To name all methods of all classes takes longer than all else that samples do. A new
  // class takes the addresses of its methods from those that had them before.
  void NumberLater(bool on) { numbers_later_ = on; }
  // Calls `needed` when methods may be known by their jmethodIDs only, at once if there are such
  // methods already: they were redefined, or the JVM's memory could not be read.
  void OnIdsNeeded(std::function<void()> needed);

  // Visits the methods of a prepared class as the JVM's memory has them; false: that cannot be
  // read.
  bool ForEachMethod(jclass klass, MethodMemory::Visitor visit) const;
  // Records a prepared class with its methods. Ignores a class that was recorded before.
  void RecordPrepared(jclass klass);
  // Records all classes that are already prepared (S3.2).
  void RecordLoaded(JNIEnv* jni);
  // A recording begins: it has no method of any class yet.
  void ForgetRecordedMethods();
  // Records each method (0x20/0x2) of the prepared classes whose methods the recording lacks, if it
  // wants them. Those of a class that is prepared later follow the class's own record.
  void RecordMethodsOfLoaded(JNIEnv* jni);
  // The class got probes after it was recorded, so its methods now have routines. Or it is about to
  // change: its methods have jmethodIDs from now on, which stay the same.
  void Renumber(jclass klass);
  // The class is about to be redefined: activations of its methods continue in the old ones, which
  // lose their jmethodIDs. `method_behind`: JvmView::MethodBehind.
  void KeepOldMethods(jclass klass, absl::FunctionRef<uintptr_t(jmethodID)> method_behind);
  // Classes are about to be redefined again: forgets the old methods that were in no sample.
  void ForgetIdleOldMethods();
  // Method.id of an old method; 0 if it is not one.
  uint32_t OldMethod(uintptr_t method) const;
  // ClassDef.id of a loaded class that is not an array; 0 if it cannot be named.
  uint32_t NumberOf(jclass klass);
  // From ObjectFree: the class with this tag was unloaded.
  void Unload(jlong tag);
  // Whether a class with this number was recorded and is still loaded. Hidden classes may get the
  // name, and so the number, of an unloaded one.
  bool IsLoaded(uint32_t class_id) const;
  // Nothing names methods of these unloaded classes any more.
  void Forget(const absl::flat_hash_set<uint32_t>& classes);

  // Method.id of a method that is named by its jmethodID from now on; 0 if it cannot be named. On a
  // thread that may call JVMTI, while its class lives.
  uint32_t DefineMethod(jmethodID id);
  // Method.id of a Method that was not recorded with its class: NumberLater, or it was made by a
  // redefinition since; 0 if it is none. Any thread but a handler.
  uint32_t DefineMethodInMemory(uintptr_t method);

  // ClassDef.id of a class by HotSpot's Klass, which a sample contains for the object that its
  // thread waits on; 0 if the class was never reported, such as array classes created after the
  // start. The Klass's address may be reused when the class is unloaded, as for a Method
  // (MethodKey).
  uint32_t ClassOf(uintptr_t klass) const;
  // Method.id; 0 if its class was never seen, or if it is not numbered yet (NumberLater).
  uint32_t MethodOf(MethodKey method) const;
  // Grows when a key is reused for another method.
  uint64_t reuses() const { return reuses_.load(std::memory_order_relaxed); }
  // Whether threads that wait in the method are parked or asleep.
  MethodWait WaitIn(MethodKey method) const;
  // Whether the Method.id belongs to the probes' own class.
  bool IsProbe(uint32_t method) const;
  // Routine.id of a method with probes; 0 if it has none.
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
  // How many methods a new class has; nothing if that cannot be read. Whatever had their addresses
  // before is forgotten.
  std::optional<int32_t> CountMethods(jclass klass);
  uint64_t CountedClasses() const;
  // DefineMethodInMemory; false: a class was counted meanwhile, and may have taken the address.
  bool TryToDefine(uintptr_t method, uint32_t& number);
  void NeedIds();
  NumberedMethods NumberMethods(jclass klass, const ClassIdentity& identity);
  void RecordMethods(jclass klass, const ClassIdentity& identity);
  // Visits all classes that the JVM has; arrays too.
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
  const SessionClock& clock_;
  LoaderNumbers& loaders_;
  ClassSources sources_;
  trace::RecordEncoder& encoder_;
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<MethodKey, Numbers> methods_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<uintptr_t, uint32_t> classes_ ABSL_GUARDED_BY(mutex_);  // by Klass
  std::atomic<uint64_t> reuses_{0};
  uint64_t counted_classes_ ABSL_GUARDED_BY(mutex_) = 0;
  MethodMemory memory_;
  std::atomic<bool> numbers_later_{false};
  bool needs_ids_ ABSL_GUARDED_BY(mutex_) = false;
  std::function<void()> on_ids_needed_ ABSL_GUARDED_BY(mutex_);
  // How many classes have the number.
  absl::flat_hash_map<uint32_t, uint32_t> loaded_ ABSL_GUARDED_BY(mutex_);
  struct OldMethodNumber {
    uint32_t class_id = 0;
    uint32_t method = 0;
    bool was_met = false;
  };
  mutable absl::flat_hash_map<uintptr_t, OldMethodNumber> old_methods_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_set<uint32_t> probe_methods_ ABSL_GUARDED_BY(mutex_);
  // Classes whose methods the recording has.
  absl::flat_hash_set<uint32_t> with_methods_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<CompiledCode> code_;
};

}  // namespace jtrace::jvm
