// The data about the JVM that samples need: its layout, its stubs, its intrinsics' names.
#pragma once

#include <jni.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/jvm/hotspot/compiled_code_check.h"
#include "agent/jvm/hotspot/debug_info_check.h"
#include "agent/jvm/hotspot/debug_non_safepoints.h"
#include "agent/jvm/hotspot/intrinsic_methods.h"
#include "agent/jvm/hotspot/jvm_flags.h"
#include "agent/jvm/hotspot/stub_registry.h"
#include "agent/jvm/hotspot/vm_layout_resolver.h"
#include "agent/jvm/hotspot/vm_structs.h"
#include "agent/jvm/hotspot/vm_table_entries.h"
#include "agent/samples/walk/vm_layout.h"

namespace jtrace::jvm {

// A section of the JVM's data that is not read, and why.
struct SectionProblem {
  LayoutSection section;
  std::string_view what;  // a string literal
};

// Reads java.lang.Object.equals through the layout and compares it with JNI's class and id and with
// its bytecodes; `method`: HotSpot's Method of it. On a Java thread.
bool ReadsKnownMethod(JNIEnv* env, const samples::VmLayout& layout, uintptr_t method,
                      uintptr_t klass);

// Compares what the layout says of the current thread with what the system and JNI say: its stack,
// its number in the kernel, its state, the Thread that it runs. What differs is switched off in
// `layout` and added to `problems`. `java_thread`: the JavaThread of the current thread, which is
// in a callback of JVMTI.
void CheckCurrentThread(JNIEnv* env, uintptr_t java_thread, samples::VmLayout* layout,
                        std::vector<SectionProblem>* problems);

// Adds the sections of which this JVM's tables lack entries, or have impossible ones.
void FindMissingSections(const VmStructs& structs, const JvmFlags& flags,
                         const samples::VmLayout& layout, std::vector<SectionProblem>* problems);

// Decides whether the JVM must report compiled methods (JVMTI CompiledMethodLoad), and makes it
// keep debug information without the reports.
class DebugInfoKeeper {
 public:
  virtual ~DebugInfoKeeper() = default;

  // Whether reports of compiled methods are still needed. Any thread.
  virtual bool NeedsCompiledCode() const = 0;
  // Makes the JVM keep debug information for each instruction, as it does while reports of compiled
  // methods are requested. False: this JVM does so only for the reports.
  virtual bool KeepDebugInfo() = 0;
  // Ends the effect of KeepDebugInfo.
  virtual void StopKeepingDebugInfo() = 0;
};

// What is known of this JVM, from libjvm's symbols and the tables that it exports. Threads: Read
// and Resolve on the thread of a start; the queries on any thread after Resolve. Must outlive every
// handler that was given layout().
class HotSpotInternals : public DebugInfoKeeper {
 public:
  // Reads symbols and tables. `libjvm_address`: any address in libjvm. After Resolve, problem()
  // reports what cannot be read.
  void Read(const void* libjvm_address);
  // Fills and checks the layout. On a Java thread, in VMInit or later.
  void Resolve(JNIEnv* env);

  // Why the layout is unknown; "" if it is known.
  const std::string& problem() const { return problem_; }
  // Sections of the layout that are not as the JVM's tables say, and so are not used. Those that
  // depend on compiled code are checked later: sees_compiled_code, sees_inlined_methods.
  const std::vector<SectionProblem>& problems() const { return problems_; }
  // Null if the layout is unknown.
  const samples::VmLayout* layout() const { return problem_.empty() ? &layout_ : nullptr; }
  // The JVM's function to read memory that may be unmapped; null if it was not found.
  auto safe_fetch() const { return symbols_.safe_fetch; }
  StubRegistry& stubs() { return stubs_; }
  // Adds code that the JVM reports by name (JVMTI DynamicCodeGenerated). Any thread, at any time.
  void AddStub(std::string_view name, uintptr_t begin, uintptr_t end);
  // Makes newly added stubs visible to handlers.
  void PublishStubs();
  const IntrinsicNames& intrinsics() const { return intrinsics_; }
  // Checks the layout by the compiled code at `address`, which is alive. `compile_info`, from
  // CompiledMethodLoad, has data about the code that no table of the JVM has.
  void CheckCompiledCode(uintptr_t address, const void* compile_info);
  // Whether more code must be checked.
  bool NeedsCompiledCode() const override;
  bool KeepDebugInfo() override { return non_safepoints_flag_.TurnOn(); }
  void StopKeepingDebugInfo() override { non_safepoints_flag_.TurnOff(); }
  // Sets whether frames name methods by their jmethodIDs, where they have some. Any thread.
  void NeedMethodIds(bool needed) { layout_.method.ids_are_needed = needed; }
  // Sets whether debug information is checked when code is compiled, which needs a report of each
  // method, or when a sample first contains the code (NonSafepointsCheck). Before handlers run.
  void CheckAtCompilation(bool early) { checks_at_compilation_ = early; }
  NonSafepointsCheck& non_safepoints_check() { return non_safepoints_check_; }
  // False: frames of compiled code are not walked.
  bool sees_compiled_code() const { return layout_.compiled_code_readable.load(); }
  // False: of compiled code only the method itself is known, not its inlined methods.
  bool sees_inlined_methods() const { return layout_.debug_info_readable.load(); }

  // Returns the JavaThread of a JNIEnv; 0 if unknown.
  uintptr_t JavaThreadOf(JNIEnv* env) const;
  // Returns the kernel's thread id of a JavaThread; 0 if unknown.
  pid_t OsThreadId(uintptr_t java_thread) const;
  // Returns the Method of a jmethodID; 0 if unknown, or if ids are numbers (since JDK 26).
  uintptr_t MethodBehind(jmethodID id) const;
  struct Stack {
    uintptr_t low = 0;
    uintptr_t high = 0;
  };
  // Returns the bounds of a JavaThread's stack; zeros if unknown.
  Stack StackOf(uintptr_t java_thread) const;

 private:
  void CheckDebugInfo(const jvmtiCompiledMethodLoadInlineRecord& record,
                      const samples::CodeBlob& nmethod);
  void ReadContinuations(const samples::CodeBlob& nmethod);
  void CheckKnownObjects(const JvmFlags& flags, JNIEnv* env);

  const void* libjvm_address_ = nullptr;
  absl::StatusOr<const VmStructs*> structs_ = absl::UnknownError("not read");
  LocalSymbols symbols_;
  samples::VmLayout layout_;
  IntrinsicNames intrinsics_;
  bool resolved_ = false;
  std::string problem_ = "the sampler was not started";
  StubRegistry stubs_;
  std::vector<SectionProblem> problems_;
  CompiledCodeCheck compiled_code_check_{&layout_};
  DebugInfoCheck debug_info_check_{&layout_};
  std::atomic<uintptr_t> return_barrier_{0};  // address of the stub
  NonSafepointsCheck non_safepoints_check_{&layout_};
  NonSafepointsFlag non_safepoints_flag_;
  std::atomic<bool> checks_at_compilation_{true};
};

}  // namespace jtrace::jvm
