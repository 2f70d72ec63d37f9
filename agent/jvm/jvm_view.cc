#include "agent/jvm/jvm_view.h"

#include <dlfcn.h>

#include "absl/strings/str_cat.h"
#include "agent/jvm/code_registry.h"
#include "agent/jvm/jvm_flags.h"
#include "agent/jvm/machine_code.h"
#include "agent/jvm/method_memory.h"
#include "agent/jvm/vm_layout_resolver.h"
#include "agent/samples/walk/code_cache.h"
#include "agent/samples/walk/debug_info.h"
#include "agent/samples/walk/known_frames.h"
#include "agent/signal_safe/safe_read.h"

namespace jtrace::jvm {
namespace {

constexpr jint kJni20 = 0x0014'0000;  // JNI_VERSION_20

// JDK 19 to 23, and since.
bool IsReturnBarrier(std::string_view stub) {
  return stub == "Cont thaw return barrier" || stub == "cont_returnBarrier";
}

}  // namespace

void JvmView::Read(const void* libjvm_address) {
  libjvm_address_ = libjvm_address;
  structs_ = VmStructs::Of(libjvm_address);
  Dl_info info;
  if (!structs_.ok() || dladdr(libjvm_address, &info) == 0) return;
  symbols_ = ReadLocalSymbols(info.dli_fname, reinterpret_cast<uintptr_t>(info.dli_fbase));
}

void JvmView::Resolve(JNIEnv* env) {
  absl::Status status = structs_.status();
  if (status.ok()) status = ResolveVmLayout(**structs_, symbols_, &layout_);
  if (status.ok()) status = ResolveJniEnvOffset(env, &layout_);
  problem_ = std::string(status.message());
  if (!status.ok()) return;
  layout_.method.ids_point_to_methods = IdsPointToMethods(env, layout_);
  if (layout_.continuation_return_barrier == 0) {
    layout_.continuation_return_barrier = return_barrier_.load();
  }
  // JDK 20 changed the encoding. What is compiled shows whether that holds (NoteCompiledCode), and
  // an earlier recording may have seen it.
  if (!resolved_) layout_.unsigned5_bias = env->GetVersion() >= kJni20 ? 1 : 0;
  resolved_ = true;
  const JvmFlags flags(**structs_);
  layout_.heap = ResolveHeapLayout(**structs_, flags, env);
  CheckKnownObjects(flags, env);
  non_safepoints_flag_.Find(flags, layout_, libjvm_address_);
  non_safepoints_check_.Publish();
  if (problem_.empty()) intrinsics_ = IntrinsicNames(**structs_, layout_);
  if (!AddInterpreterCodelets(**structs_, &stubs_)) {
    problems_.push_back({VmPart::kCodelets, "pieces of the interpreter"});
  }
  stubs_.Publish(&layout_);
}

void JvmView::CheckKnownObjects(const JvmFlags& flags, JNIEnv* env) {
  problems_.clear();
  jclass const object = env->FindClass("java/lang/Object");
  const auto memory = MethodMemory::Of(libjvm_address_, env);
  if (object != nullptr && memory.usable()) {
    uintptr_t equals = 0;
    memory.ForEachMethod(env, object, [&](const MethodInMemory& method) {
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
    problems_.push_back({VmPart::kMethodTexts, "methods of a class"});
  }
  CheckCurrentThread(env, JavaThreadOf(env), &layout_, &problems_);
  FindMissingParts(**structs_, flags, layout_, &problems_);
}

void JvmView::AddStub(std::string_view name, uintptr_t begin, uintptr_t end) {
  stubs_.Add(name, begin, end);
  if (IsReturnBarrier(name)) return_barrier_ = begin;
}

void JvmView::PublishStubs() {
  if (problem_.empty()) stubs_.Publish(&layout_);
}

uintptr_t JvmView::JavaThreadOf(JNIEnv* env) const {
  if (env == nullptr || !problem_.empty()) return 0;
  return reinterpret_cast<uintptr_t>(env) - static_cast<uintptr_t>(layout_.thread.jni_env);
}

pid_t JvmView::OsThreadId(uintptr_t java_thread) const {
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

uintptr_t JvmView::MethodBehind(jmethodID id) const {
  if (!problem_.empty() || !layout_.method.ids_point_to_methods) return 0;
  return signal_safe::SafeReadOr0(reinterpret_cast<uintptr_t>(id));
}

JvmView::Stack JvmView::StackOf(uintptr_t java_thread) const {
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

void JvmView::NoteCompiledCode(uintptr_t address, const void* compile_info) {
  samples::CodeBlob nmethod;
  if (!problem_.empty() || !sees_compiled_code()) return;
  if (!samples::FindBlob(layout_, address, &nmethod)) nmethod.kind = samples::BlobKind::kUnknown;
  if (compiled_code_check_.Look(address, nmethod)) samples::ForgetAllKnownFrames();
  if (!nmethod.IsCompiled()) return;
  if (nmethod.kind == samples::BlobKind::kNativeNmethod) return LearnContinuations(nmethod);
  if (const auto* record = FindInlineRecord(compile_info); record != nullptr) {
    CheckDebugInfo(*record, nmethod);
  }
  if (checks_early_) non_safepoints_check_.Check(nmethod);
}

bool JvmView::NeedsCompiledCode() const {
  if (!problem_.empty() || checks_early_) return problem_.empty();
  const bool lacks_continuations = layout_.continuation_return_barrier != 0 &&
                                   layout_.thread.continuation_entry == samples::kAbsent;
  return lacks_continuations || !compiled_code_check_.is_decided() ||
         (sees_compiled_code() && !debug_info_check_.is_decided());
}

void JvmView::CheckDebugInfo(const jvmtiCompiledMethodLoadInlineRecord& record,
                             const samples::CodeBlob& nmethod) {
  if (debug_info_check_.Look(record, nmethod)) samples::ForgetAllKnownFrames();
}

void JvmView::LearnContinuations(const samples::CodeBlob& nmethod) {
  auto& entry = layout_.thread.continuation_entry;
  if (entry != samples::kAbsent || layout_.continuation_return_barrier == 0) return;
  const auto found = FindContinuationFields(reinterpret_cast<const uint8_t*>(nmethod.code),
                                            nmethod.end - nmethod.code);
  if (!found.has_value()) return;
  layout_.continuation_entry_size = found->entry_size;
  entry = found->entry;
}

}  // namespace jtrace::jvm
