#include "agent/sampling/jvm_view.h"

#include <dlfcn.h>

#include "absl/strings/str_cat.h"
#include "agent/hot/safe_read.h"
#include "agent/hot/walk/code_cache.h"
#include "agent/hot/walk/debug_info.h"
#include "agent/hot/walk/known_frames.h"
#include "agent/sampling/code_notes.h"
#include "agent/sampling/heap_layout_resolver.h"

namespace jtrace::sampling {

void JvmView::Read(const void* libjvm_address) {
  Dl_info info;
  if (libjvm_address == nullptr || dladdr(libjvm_address, &info) == 0) {
    structs_ = absl::NotFoundError("libjvm was not found");
    return;
  }
  void* const libjvm = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  if (libjvm == nullptr) {
    structs_ = absl::NotFoundError(absl::StrCat("cannot open ", info.dli_fname));
    return;
  }
  structs_ = VmStructs::Read(libjvm);
  symbols_ = ReadLocalSymbols(info.dli_fname, reinterpret_cast<uintptr_t>(info.dli_fbase));
  dlclose(libjvm);
}

void JvmView::Resolve(JNIEnv* env) {
  absl::Status status = structs_.status();
  if (status.ok()) status = ResolveVmLayout(*structs_, symbols_, &layout_);
  if (status.ok()) status = ResolveJniEnvOffset(env, &layout_);
  problem_ = std::string(status.message());
  if (!status.ok()) return;
  layout_.heap = ResolveHeapLayout(*structs_, env);
  layout_.unreliable_code = unreliable_code_.published();
  if (problem_.empty()) intrinsics_ = IntrinsicNames(*structs_, layout_);
  AddInterpreterCodelets(*structs_, &stubs_);
  stubs_.Publish(&layout_);
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
  if (!problem_.empty() || java_thread == 0 || fields.os_thread == hot::kAbsent ||
      fields.os_thread_id == hot::kAbsent) {
    return 0;
  }
  const uintptr_t os_thread =
      hot::SafeReadOr0(java_thread + static_cast<uintptr_t>(fields.os_thread));
  int32_t tid;
  return hot::SafeRead(os_thread + static_cast<uintptr_t>(fields.os_thread_id), &tid) ? tid : 0;
}

uintptr_t JvmView::MethodBehind(jmethodID id) const {
  if (!problem_.empty() || !layout_.method.ids_point_to_methods) return 0;
  return hot::SafeReadOr0(reinterpret_cast<uintptr_t>(id));
}

JvmView::Stack JvmView::StackOf(uintptr_t java_thread) const {
  const auto& fields = layout_.thread;
  if (java_thread == 0 || fields.stack_base == hot::kAbsent || fields.stack_size == hot::kAbsent) {
    return {};
  }
  const uintptr_t base = hot::SafeReadOr0(java_thread + static_cast<uintptr_t>(fields.stack_base));
  const uintptr_t size = hot::SafeReadOr0(java_thread + static_cast<uintptr_t>(fields.stack_size));
  return {size < base ? base - size : 0, base};
}

void JvmView::NoteCompiledCode(uintptr_t address, const void* compile_info) {
  const auto* const record = FindInlineRecord(compile_info);
  hot::CodeBlob nmethod;
  if (!problem_.empty() || record == nullptr || !NotesAreWrong(*record) ||
      !hot::FindBlob(layout_, address, &nmethod)) {
    return;
  }
  unreliable_code_.Add(hot::CompilationKey(layout_, nmethod.address));
  hot::ForgetKnownFrames(nmethod.address);
}

}  // namespace jtrace::sampling
