#include "agent/jvm/hot_spot_internals.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "agent/jvm/compiled_code_registry.h"
#include "agent/jvm/hotspot/heap_layout_resolver.h"
#include "agent/jvm/hotspot/java_thread_layout.h"
#include "agent/jvm/hotspot/jvm_flags.h"
#include "agent/jvm/hotspot/machine_code.h"
#include "agent/jvm/hotspot/method_reader.h"
#include "agent/jvm/hotspot/vm_layout_resolver.h"
#include "agent/samples/handler/thread_activity.h"
#include "agent/samples/walk/code_cache.h"
#include "agent/samples/walk/debug_info.h"
#include "agent/samples/walk/frame_cache.h"
#include "agent/samples/walk/jmethod_ids.h"
#include "agent/signal_safe/safe_read.h"

namespace jtrace::jvm {
namespace {

constexpr jint kJni20 = 0x0014'0000;  // JNI_VERSION_20

// The names in JDK 19 to 23, and since JDK 24.
bool IsReturnBarrier(std::string_view stub) {
  return stub == "Cont thaw return barrier" || stub == "cont_returnBarrier";
}

using samples::kAbsent;
using samples::kNoValue;
using samples::Offset;
using samples::VmLayout;

// Reads fields of one of the JVM's own objects with guarded loads.
class Object {
 public:
  explicit Object(uintptr_t address) : address_(address) {}

  uintptr_t Word(Offset at) const {
    return signal_safe::SafeReadOr0(address_ + static_cast<uintptr_t>(at));
  }
  bool HasWord(Offset at, uintptr_t* value) const {
    return signal_safe::SafeReadWord(address_ + static_cast<uintptr_t>(at), value);
  }
  template <typename T>
  T Number(Offset at) const {
    T value;
    return signal_safe::SafeRead(address_ + static_cast<uintptr_t>(at), &value) ? value : T{};
  }

 private:
  const uintptr_t address_;
};

// Returns Thread.tid; 0 if unknown. Waits for a collection to end, as calls of JNI do.
jlong NumberOfCurrentThread(JNIEnv* env) { return CurrentThreadField(env, "tid").value_or(0); }

class ThreadCheck {
 public:
  ThreadCheck(JNIEnv* env, uintptr_t java_thread, VmLayout* layout,
              std::vector<SectionProblem>* problems)
      : env_(env),
        thread_(java_thread),
        address_(java_thread),
        layout_(*layout),
        problems_(*problems) {}

  void Stack() {
    auto& at = layout_.thread;
    if (at.stack_base == kAbsent || at.stack_size == kAbsent) return;
    constexpr uintptr_t kLargest = uintptr_t{64} << 30;
    const uintptr_t base = thread_.Word(at.stack_base), size = thread_.Word(at.stack_size);
    const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    if (here < base && base - here < size && size < kLargest && size < base) return;
    at.stack_base = at.stack_size = kAbsent;
    Off(LayoutSection::kThreads, "the bounds of a thread's stack");
  }

  void KernelNumber() {
    auto& at = layout_.thread;
    if (at.os_thread == kAbsent || at.os_thread_id == kAbsent) return;
    const Object os_thread(thread_.Word(at.os_thread));
    if (os_thread.Number<int32_t>(at.os_thread_id) == gettid()) {
      CheckState(os_thread);
      return;
    }
    at.os_thread = at.os_thread_id = at.os_thread_state = kAbsent;
    Off(LayoutSection::kThreads, "a thread's number in the kernel");
  }

  // The current thread is in a callback of JVMTI, so its state is "in native code".
  void JavaState() {
    auto& at = layout_.thread;
    if (at.thread_state == kAbsent || at.thread_in_native == kNoValue) return;
    if (thread_.Number<int32_t>(at.thread_state) == at.thread_in_native) return;
    at.thread_state = kAbsent;
    Off(LayoutSection::kThreads, "a thread's state");
  }

  void SavedPc() {
    auto& at = layout_.thread;
    uintptr_t pc;
    if (at.saved_exception_pc == kAbsent) return;
    if (thread_.HasWord(at.saved_exception_pc, &pc) && (pc == 0 || layout_.InCodeCache(pc))) return;
    at.saved_exception_pc = kAbsent;
    Off(LayoutSection::kThreads, "where a thread's exception came from");
  }

  void OwnerNumber(jlong number) {
    auto& at = layout_.thread;
    if (at.monitor_owner_id == kAbsent) return;
    if (thread_.Word(at.monitor_owner_id) == static_cast<uintptr_t>(number)) return;
    at.monitor_owner_id = kAbsent;
    Off(LayoutSection::kThreads, "a thread's number in Java");
  }

  // The current thread is a platform thread that runs no virtual one, so its entry is null.
  void Continuations() {
    constexpr uint32_t kSmallest = 32, kLargest = 512;
    const Offset entry = layout_.thread.continuation_entry;
    const uint32_t size = layout_.continuation_entry_size;
    uintptr_t value;
    if (entry == kAbsent) return;
    const bool is_possible = thread_.HasWord(entry, &value) && value == 0;
    if (is_possible && size >= kSmallest && size <= kLargest && size % 8 == 0) return;
    layout_.thread.continuation_entry = kAbsent;
    Off(LayoutSection::kContinuations, "where a virtual thread's stack begins");
  }

  // The current thread neither enters nor waits for a monitor; its Thread object has its number.
  void Waits(jlong number) {
    signal_safe::HeapLayout& heap = layout_.heap;
    uintptr_t entered, waited;
    if (!heap.readable) return;
    const bool waits = !thread_.HasWord(heap.pending_monitor, &entered) || entered != 0 ||
                       !thread_.HasWord(heap.waiting_monitor, &waited) || waited != 0;
    if (!waits && IsThread(static_cast<uint64_t>(number))) return;
    heap.readable = false;
    Off(LayoutSection::kWaits, "the Thread object of a thread, or its monitors");
  }

 private:
  // Nothing can be read while a collection runs; NumberOfCurrentThread waits for its end.
  bool IsThread(uint64_t number) const {
    constexpr int kTries = 10;
    for (int i = 0; i < kTries; ++i) {
      uint64_t found;
      if (samples::FindThreadId(layout_.heap, address_, &found)) return found == number;
      NumberOfCurrentThread(env_);
    }
    return false;
  }

  void CheckState(const Object& os_thread) {
    auto& at = layout_.thread;
    if (at.os_thread_state == kAbsent || at.os_runnable == kNoValue) return;
    if (os_thread.Number<int32_t>(at.os_thread_state) == at.os_runnable) return;
    at.os_thread_state = kAbsent;
    Off(LayoutSection::kThreads, "what a thread waits for");
  }

  void Off(LayoutSection section, const char* what) { problems_.push_back({section, what}); }

  JNIEnv* const env_;
  const Object thread_;
  const uintptr_t address_;
  VmLayout& layout_;
  std::vector<SectionProblem>& problems_;
};

}  // namespace

void HotSpotInternals::Read(const void* libjvm_address) {
  libjvm_address_ = libjvm_address;
  structs_ = VmStructs::Of(libjvm_address);
  Dl_info info;
  if (!structs_.ok() || dladdr(libjvm_address, &info) == 0) return;
  symbols_ = ReadLocalSymbols(info.dli_fname, reinterpret_cast<uintptr_t>(info.dli_fbase));
}

void HotSpotInternals::Resolve(JNIEnv* env) {
  absl::Status status = structs_.status();
  if (status.ok()) status = ResolveVmLayout(**structs_, symbols_, &layout_);
  if (status.ok()) status = ResolveJniEnvOffset(env, &layout_);
  problem_ = std::string(status.message());
  if (!status.ok()) return;
  layout_.method.ids_point_to_methods = IdsPointToMethods(env, layout_);
  if (layout_.continuation_return_barrier == 0) {
    layout_.continuation_return_barrier = return_barrier_.load();
  }
  // JDK 20 changed the encoding. This is a first guess, which compiled code corrects
  // (CheckCompiledCode). Later recordings keep what an earlier one has found.
  if (!resolved_) layout_.unsigned5_bias = env->GetVersion() >= kJni20 ? 1 : 0;
  resolved_ = true;
  const JvmFlags flags(**structs_);
  layout_.heap = ResolveHeapLayout(**structs_, flags, env);
  CheckKnownObjects(flags, env);
  non_safepoints_flag_.Find(flags, layout_, libjvm_address_);
  non_safepoints_check_.Publish();
  if (problem_.empty()) intrinsics_ = IntrinsicNames(**structs_, layout_);
  if (!AddInterpreterCodelets(**structs_, &stubs_)) {
    problems_.push_back({LayoutSection::kCodelets, "pieces of the interpreter"});
  }
  stubs_.Publish(&layout_);
}

void HotSpotInternals::CheckKnownObjects(const JvmFlags& flags, JNIEnv* env) {
  problems_.clear();
  jclass const object = env->FindClass("java/lang/Object");
  const auto memory = MethodReader::Of(libjvm_address_, env);
  if (object != nullptr && memory.usable()) {
    uintptr_t equals = 0;
    memory.ForEachMethod(env, object, [&](const NamedMethod& method) {
      if (method.name == "equals") equals = method.method;
    });
    if (!ReadsKnownMethod(env, layout_, equals, memory.KlassOf(env, object))) {
      problem_ = "methods of this JVM are not as its tables say";
    }
  }
  if (object != nullptr) env->DeleteLocalRef(object);
  if (!problem_.empty()) return;
  const bool checks_jni = flags.Bool("CheckJNICalls").value_or(false);
  if (!memory.usable() && !checks_jni) {
    problems_.push_back({LayoutSection::kMethodTexts, "methods of a class"});
  }
  CheckCurrentThread(env, JavaThreadOf(env), &layout_, &problems_);
  FindMissingSections(**structs_, flags, layout_, &problems_);
}

void HotSpotInternals::AddStub(std::string_view name, uintptr_t begin, uintptr_t end) {
  stubs_.Add(name, begin, end);
  if (IsReturnBarrier(name)) return_barrier_ = begin;
}

void HotSpotInternals::PublishStubs() {
  if (problem_.empty()) stubs_.Publish(&layout_);
}

uintptr_t HotSpotInternals::JavaThreadOf(JNIEnv* env) const {
  if (env == nullptr || !problem_.empty()) return 0;
  return reinterpret_cast<uintptr_t>(env) - static_cast<uintptr_t>(layout_.thread.jni_env);
}

pid_t HotSpotInternals::OsThreadId(uintptr_t java_thread) const {
  const auto& fields = layout_.thread;
  if (!problem_.empty() || java_thread == 0 || fields.os_thread == samples::kAbsent ||
      fields.os_thread_id == samples::kAbsent) {
    return 0;
  }
  const uintptr_t os_thread =
      signal_safe::SafeReadOr0(java_thread + static_cast<uintptr_t>(fields.os_thread));
  int32_t tid;
  return signal_safe::SafeRead(os_thread + static_cast<uintptr_t>(fields.os_thread_id), &tid) ? tid
                                                                                              : 0;
}

uintptr_t HotSpotInternals::MethodBehind(jmethodID id) const {
  if (!problem_.empty() || !layout_.method.ids_point_to_methods) return 0;
  return signal_safe::SafeReadOr0(reinterpret_cast<uintptr_t>(id));
}

HotSpotInternals::Stack HotSpotInternals::StackOf(uintptr_t java_thread) const {
  const auto& fields = layout_.thread;
  if (java_thread == 0 || fields.stack_base == samples::kAbsent ||
      fields.stack_size == samples::kAbsent) {
    return {};
  }
  const uintptr_t base =
      signal_safe::SafeReadOr0(java_thread + static_cast<uintptr_t>(fields.stack_base));
  const uintptr_t size =
      signal_safe::SafeReadOr0(java_thread + static_cast<uintptr_t>(fields.stack_size));
  return {size < base ? base - size : 0, base};
}

void HotSpotInternals::CheckCompiledCode(uintptr_t address, const void* compile_info) {
  samples::CodeBlob nmethod;
  if (!problem_.empty() || !sees_compiled_code()) return;
  if (!samples::FindBlob(layout_, address, &nmethod)) nmethod.kind = samples::BlobKind::kUnknown;
  if (compiled_code_check_.Check(address, nmethod)) samples::EvictAllFrames();
  if (!nmethod.IsCompiled()) return;
  if (nmethod.kind == samples::BlobKind::kNativeNmethod) return ReadContinuations(nmethod);
  if (const auto* record = FindInlineRecord(compile_info); record != nullptr) {
    CheckDebugInfo(*record, nmethod);
  }
  if (checks_at_compilation_) non_safepoints_check_.Check(nmethod);
}

bool HotSpotInternals::NeedsCompiledCode() const {
  if (!problem_.empty() || checks_at_compilation_) return problem_.empty();
  const bool lacks_continuations = layout_.continuation_return_barrier != 0 &&
                                   layout_.thread.continuation_entry == samples::kAbsent;
  return lacks_continuations || !compiled_code_check_.is_decided() ||
         (sees_compiled_code() && !debug_info_check_.is_decided());
}

void HotSpotInternals::CheckDebugInfo(const jvmtiCompiledMethodLoadInlineRecord& record,
                                      const samples::CodeBlob& nmethod) {
  if (debug_info_check_.Check(record, nmethod)) samples::EvictAllFrames();
}

void HotSpotInternals::ReadContinuations(const samples::CodeBlob& nmethod) {
  auto& entry = layout_.thread.continuation_entry;
  if (entry != samples::kAbsent || layout_.continuation_return_barrier == 0) return;
  const auto found = FindContinuationFields(reinterpret_cast<const uint8_t*>(nmethod.code),
                                            nmethod.end - nmethod.code);
  if (!found.has_value()) return;
  layout_.continuation_entry_size = found->entry_size;
  entry = found->entry;
}

bool ReadsKnownMethod(JNIEnv* env, const VmLayout& layout, uintptr_t method, uintptr_t klass) {
  // The bytecodes: aload_0, aload_1, if_acmpne, iconst_1, goto, iconst_0, ireturn. The JVM may
  // rewrite the first ones, so only their size and the last one are compared.
  constexpr uint16_t kBytecodes = 11;
  constexpr uint8_t kIreturn = 0xac;
  const Object const_method(Object(method).Word(layout.method.const_method));
  const Object constants(const_method.Word(layout.method.constants));
  if (constants.Word(layout.method.pool_holder) != klass) return false;
  if (const_method.Number<uint16_t>(layout.method.code_size) != kBytecodes) return false;
  const auto last = static_cast<Offset>(layout.method.const_method_size + kBytecodes - 1);
  if (const_method.Number<uint8_t>(last) != kIreturn) return false;
  if (!layout.method.ids_point_to_methods) return true;
  jclass const object = env->FindClass("java/lang/Object");
  jmethodID const id =
      object == nullptr ? nullptr : env->GetMethodID(object, "equals", "(Ljava/lang/Object;)Z");
  if (env->ExceptionCheck() == JNI_TRUE) env->ExceptionClear();
  if (object != nullptr) env->DeleteLocalRef(object);
  return samples::FindMethodId(layout, method) == reinterpret_cast<uintptr_t>(id);
}

void FindMissingSections(const VmStructs& structs, const JvmFlags& flags, const VmLayout& layout,
                         std::vector<SectionProblem>* problems) {
  const auto add = [&](LayoutSection section, bool is_missing, std::string_view what) {
    const bool is_known =
        std::any_of(problems->begin(), problems->end(),
                    [&](const SectionProblem& it) { return it.section == section; });
    if (is_missing && !is_known) problems->push_back({section, what});
  };
  const auto& at = layout.thread;
  add(LayoutSection::kThreads,
      std::min({at.stack_base, at.stack_size, at.os_thread, at.os_thread_id, at.os_thread_state,
                at.thread_state, at.saved_exception_pc}) == kAbsent ||
          std::min({at.os_monitor_wait, at.os_condvar_wait, at.os_object_wait,
                    at.thread_blocked}) == kNoValue,
      "entries about threads");
  add(LayoutSection::kFlags, !flags.Bool("UseCompressedOops").has_value(), "-XX options");
  add(LayoutSection::kWaits, !layout.heap.readable && IsKnownCollector(flags),
      "entries about objects");
  add(LayoutSection::kLevels,
      std::min(layout.nmethod.comp_level, structs.Field("nmethod", "_entry_bci")) == kAbsent,
      "entries about compilations");
}

void CheckCurrentThread(JNIEnv* env, uintptr_t java_thread, VmLayout* layout,
                        std::vector<SectionProblem>* problems) {
  const jlong number = NumberOfCurrentThread(env);
  ThreadCheck check(env, java_thread, layout, problems);
  check.Stack();
  check.KernelNumber();
  check.JavaState();
  check.SavedPc();
  check.OwnerNumber(number);
  check.Continuations();
  check.Waits(number);
}

}  // namespace jtrace::jvm
