// The debug information that compilers keep for the code between safepoints: whether it is kept,
// and whether C2's is correct.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "agent/jvm/hotspot/address_set.h"
#include "agent/jvm/hotspot/jvm_flags.h"
#include "agent/samples/walk/chain.h"
#include "agent/samples/walk/code_cache.h"
#include "agent/samples/walk/vm_layout.h"

namespace jtrace::jvm {

// Whether most of an nmethod's debug information between safepoints is wrong. In some compilations
// of JDK 17, mostly large ones, it names methods that are inlined elsewhere: C2 loses track of
// which note belongs to which instruction while it optimises. The information about calls is always
// correct. So the code directly before a call must belong to the calling method, to one inlined
// into it, or to one that it is inlined into. In sound compilations this holds for at least two
// thirds of the calls, in the others for a tenth.
//
// The nmethod may be freed meanwhile. No load faults then, and the answer is about other memory.
bool DebugInfoIsWrong(const samples::VmLayout& vm, const samples::CodeBlob& nmethod);

// HotSpot's flag DebugNonSafepoints: compilers keep debug information for each instruction, not for
// safepoints only. They read the flag at the beginning of each compilation, so it may change while
// the program runs. They also keep that information as long as an agent listens to JVMTI
// CompiledMethodLoad, which costs the JVM some 15 us for each compiled method.
//
// This class writes to the JVM's own variable, but only if that is a boolean in libjvm's data, and
// the table that names it gives the size of the code cache rightly, which is known otherwise.
//
// Threads: Find on the thread of a start, before the other functions; these on any thread.
class NonSafepointsFlag {
 public:
  // In VMInit or later. `libjvm_address`: any address in libjvm.
  void Find(const JvmFlags& flags, const samples::VmLayout& layout, const void* libjvm_address);

  // Returns false if the flag was not found. Keeps a value that the user chose, as the JVM does,
  // and returns true.
  bool TurnOn();
  // Restores what TurnOn changed.
  void TurnOff();

 private:
  absl::Mutex mutex_;
  uintptr_t flag_ ABSL_GUARDED_BY(mutex_) = 0;  // 0: not found
  bool is_chosen_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_changed_ ABSL_GUARDED_BY(mutex_) = false;
};

// Checks the debug information of compilations when samples first meet them. A program has some
// thousand compilations, and samples interrupt a tenth of them: to check each one as it is made
// would cost more than the samples. So the handler notes an interrupted frame of code that is not
// in VmLayout::checked_code (UncheckedFrame), and the writer, when it reads the sample, checks the
// code and corrects the frame (samples/sample_corrector).
//
// Thread-safe.
class NonSafepointsCheck {
 public:
  explicit NonSafepointsCheck(samples::VmLayout* layout) : layout_(layout) {}

  // Lets handlers see the results. Called before handlers run.
  void Publish();

  // Forgets the results, for a new recording: keys of code that was freed would add up. Called
  // while no handler runs whose samples are kept.
  void Clear();

  // Checks an nmethod that is alive during the call.
  void Check(const samples::CodeBlob& nmethod);

  // Checks the code of a sample's frame. Returns true if the frame's methods are wrong; `methods`
  // are then the right ones, the innermost first. Code that was freed meanwhile is not checked.
  bool Correct(const samples::UncheckedFrame& frame, std::vector<samples::Frame>* methods);

 private:
  // Finds the code of the frame; false if it was freed.
  bool Find(const samples::UncheckedFrame& frame, samples::CodeBlob* nmethod) const;
  void Add(uintptr_t compilation, bool wrong, uintptr_t nmethod);

  samples::VmLayout* const layout_;
  AddressSet checked_;
  AddressSet unreliable_;
};

}  // namespace jtrace::jvm
