// Classes and methods as the JVM knows them: class-load and unload records (S3.3), and the numbers
// of methods by jmethodID, which name the frames of samples.
//
// Asking for a class's methods also makes the JVM create their jmethodIDs, without which the
// stack walker could not name them from a signal handler.
// Threads: Prepare on the Java thread of the event; Unload on the JVM's thread that frees tags;
// MethodOf anywhere but in a signal handler.
#pragma once

#include <jvmti.h>

#include <cstdint>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/synchronization/mutex.h"
#include "agent/clock.h"
#include "agent/jvmti/loader_numbers.h"
#include "agent/losses.h"
#include "agent/writer/record_encoder.h"

namespace jtrace::jvmti {

// What a thread does that waits in a method.
enum class MethodWait : uint8_t { kNone, kPark, kSleep };

class ClassRegistry {
 public:
  ClassRegistry(jvmtiEnv* env, const SessionClock& clock, LoaderNumbers& loaders,
                writer::RecordEncoder& encoder, Losses& losses)
      : env_(env), clock_(clock), loaders_(loaders), encoder_(encoder), losses_(losses) {}

  // Records a prepared class with its methods. A class that was recorded before is left out.
  void Prepare(jclass klass, uint32_t thread);
  // Records all classes that are prepared already (S3.2).
  void PrepareLoaded(JNIEnv* jni, uint32_t thread);
  // The class got probes after it was recorded: its methods have routines now.
  void Renumber(jclass klass);
  // The class is about to be redefined: activations that run its methods go on in the old ones,
  // which lose their jmethodIDs. `method_behind`: Sampler::MethodBehind.
  void NoteOldMethods(jclass klass, absl::FunctionRef<uintptr_t(jmethodID)> method_behind);
  // Classes are going to be redefined once more: forgets the old methods that no sample ever met.
  void ForgetIdleOldMethods();
  // Method.id of an old method; 0 if it is none.
  uint32_t OldMethod(uintptr_t method) const;
  // ClassDef.id of a loaded class that is no array; 0 if it cannot be named.
  uint32_t NumberOf(jclass klass);
  // From ObjectFree: the class with this tag is gone.
  void Unload(jlong tag);
  // Whether a class of this number was recorded and is not gone. Hidden classes may get the name,
  // and so the number, of one that is gone.
  bool IsLoaded(uint32_t class_id) const;
  // Nothing names methods of these unloaded classes any more.
  void Forget(const absl::flat_hash_set<uint32_t>& classes);

  // Method.id of a jmethodID; 0 if its class was never seen.
  uint32_t MethodOf(jmethodID method) const;
  // Whether threads that wait in the method are parked or asleep.
  MethodWait WaitIn(jmethodID method) const;
  // Whether the Method.id belongs to the probes' own class.
  bool IsProbe(uint32_t method) const;
  // Routine.id of a method with probes; 0 if it has none.
  uint32_t RoutineOf(jmethodID method) const;

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
    bool is_hidden = false;
    bool is_probe = false;
  };

  ClassIdentity IdentityOf(jclass klass);
  void RecordMethods(jclass klass, const ClassIdentity& identity, proto::ClassEvent& event);
  Numbers RecordMethod(jmethodID method, uint32_t class_id, absl::string_view class_name);
  Numbers NumbersOf(jmethodID method) const;

  jvmtiEnv* env_;
  const SessionClock& clock_;
  LoaderNumbers& loaders_;
  writer::RecordEncoder& encoder_;
  Losses& losses_;
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<jmethodID, Numbers> methods_ ABSL_GUARDED_BY(mutex_);
  // How many classes have the number.
  absl::flat_hash_map<uint32_t, uint32_t> loaded_ ABSL_GUARDED_BY(mutex_);
  struct OldMethodNumber {
    uint32_t class_id = 0;
    uint32_t method = 0;
    bool was_met = false;
  };
  mutable absl::flat_hash_map<uintptr_t, OldMethodNumber> old_methods_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_set<uint32_t> probe_methods_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace jtrace::jvmti
