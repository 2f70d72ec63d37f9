// The debug information that compilers keep for the code between safepoints: whether it is kept,
// and whether C2's is correct.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "agent/jvm/address_set.h"
#include "agent/jvm/jvm_flags.h"
#include "agent/samples/walk/chain.h"
#include "agent/samples/walk/code_cache.h"
#include "agent/samples/walk/vm_layout.h"

namespace jtrace::jvm {

// JDK 17 has compilations, mostly large ones, in which it names methods that are inlined somewhere
// else: HotSpot loses track of which note belongs to which instruction while it optimises. The
// information about calls is always correct. So the code directly before a call must belong to the
// calling method, to one inlined into it, or to one that it is inlined into: in sound compilations
// this is true for at least two thirds of the calls, in the others for a tenth.
//
// True: most of it is wrong. The nmethod may be freed meanwhile: every load is guarded, and the
// answer is about other memory then.
bool DebugInfoIsWrong(const samples::VmLayout& vm, const samples::CodeBlob& nmethod);

// HotSpot's flag DebugNonSafepoints: compilers keep debug information for each instruction, not for
// safepoints only. The compilers read it at the beginning of each compilation, so
// it may change while the program runs. They do the same as long as an agent listens to JVMTI
// CompiledMethodLoad, which costs the JVM some 15 us for each compiled method.
//
// The JVM's own variable is written: only if it is a boolean in libjvm's data, and the tables that
// name it are right about the size of the code cache, which is known otherwise.
//
// Threads: Find on the session's, before the others; those on any thread.
class NonSafepointsFlag {
 public:
  // In VMInit or later. `libjvm_address`: any address in libjvm.
  void Find(const JvmFlags& flags, const samples::VmLayout& layout, const void* libjvm_address);

  // False: the flag was not found. True also if the user chose its value, which is kept, as the JVM
  // does.
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
// would cost more than the samples. So the handler marks an interrupted frame of code that is not
// in VmLayout::checked_code (UncheckedFrame), and whoever reads the sample checks the code and
// corrects the frame.
//
// Thread-safe.
class NonSafepointsCheck {
 public:
  explicit NonSafepointsCheck(samples::VmLayout* layout) : layout_(layout) {}

  // Lets handlers see the verdicts. Before they run.
  void Publish();

  // Forgets the verdicts, for a new recording: keys of code that was freed would add up. No handler
  // whose samples are kept runs.
  void Clear();

  // Of an nmethod that is alive during the call.
  void Check(const samples::CodeBlob& nmethod);

  // Checks the code of a sample's frame. True: what the frame has is wrong; `methods` are the right
  // ones, the innermost first. Code that was freed meanwhile is not checked.
  bool Correct(const samples::UncheckedFrame& frame, std::vector<samples::Frame>* methods);

 private:
  // Whether the frame's code is still there.
  bool Find(const samples::UncheckedFrame& frame, samples::CodeBlob* nmethod) const;
  void Add(uintptr_t compilation, bool wrong, uintptr_t nmethod);

  samples::VmLayout* const layout_;
  AddressSet checked_;
  AddressSet unreliable_;
};

}  // namespace jtrace::jvm
