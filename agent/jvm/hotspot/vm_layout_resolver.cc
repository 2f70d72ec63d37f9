#include "agent/jvm/hotspot/vm_layout_resolver.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "agent/jvm/hotspot/checked_read.h"
#include "agent/jvm/hotspot/code_cache_check.h"
#include "agent/jvm/hotspot/elf_symbols.h"
#include "agent/jvm/hotspot/java_thread_layout.h"
#include "agent/jvm/hotspot/stub_registry.h"
#include "agent/samples/walk/jmethod_ids.h"

namespace jtrace::jvm {

using samples::kAbsent;
using samples::Offset;
using samples::VmLayout;

namespace {

// Collects missing fields, so that one message names them all.
class Required {
 public:
  explicit Required(const VmStructs& structs) : structs_(structs) {}

  Offset Field(std::initializer_list<std::string_view> types, std::string_view field) {
    const Offset offset = structs_.Field(types, field);
    if (offset == kAbsent) Miss(*types.begin(), field);
    return offset;
  }
  uintptr_t Static(std::string_view type, std::string_view field) {
    const uintptr_t address = structs_.Static(type, field);
    if (address == 0) Miss(type, field);
    return address;
  }
  uint32_t Size(std::string_view type) {
    const uint32_t size = structs_.Size(type);
    if (size == 0) Miss("sizeof", type);
    return size;
  }
  // Requires at least one of the fields in which versions of the JVM store a value.
  void OneOf(std::string_view what, std::initializer_list<Offset> offsets) {
    const bool absent = std::all_of(offsets.begin(), offsets.end(),
                                    [](Offset offset) { return offset == kAbsent; });
    if (absent) Miss("any form of", what);
  }
  absl::Status status() const {
    if (missing_.empty()) return absl::OkStatus();
    return absl::NotFoundError(absl::StrCat("this JVM's layout lacks", missing_));
  }

 private:
  void Miss(std::string_view type, std::string_view field) {
    missing_.append(" ").append(type).append("::").append(field);
  }
  const VmStructs& structs_;
  std::string missing_;
};

void ResolveCodeHeaps(Required& required, VmLayout* layout) {
  layout->code_low = reinterpret_cast<const uintptr_t*>(required.Static("CodeCache", "_low_bound"));
  layout->code_high =
      reinterpret_cast<const uintptr_t*>(required.Static("CodeCache", "_high_bound"));
  layout->heap_block_header = required.Size("HeapBlock");
  layout->heap_block_used = required.Field({"HeapBlock::Header"}, "_used");
  const Offset memory = required.Field({"CodeHeap"}, "_memory");
  const Offset segment_map = required.Field({"CodeHeap"}, "_segmap");
  const Offset shift = required.Field({"CodeHeap"}, "_log2_segment_size");
  const Offset low = required.Field({"VirtualSpace"}, "_low");
  const Offset high = required.Field({"VirtualSpace"}, "_high");
  const Offset length = required.Field({"GrowableArrayBase", "GenericGrowableArray"}, "_len");
  const Offset data = required.Field({"GrowableArray<int>"}, "_data");
  const uintptr_t heaps = required.Static("CodeCache", "_heaps");
  if (!required.status().ok()) return;

  const uintptr_t array = Load<uintptr_t>(heaps);
  const uintptr_t elements = Load<uintptr_t>(array + data);
  layout->heap_count = std::min(Load<int32_t>(array + length), VmLayout::kMaxHeaps);
  for (int i = 0; i < layout->heap_count; ++i) {
    const uintptr_t heap = Load<uintptr_t>(elements + 8 * static_cast<uintptr_t>(i));
    layout->heaps[i] = {reinterpret_cast<const uintptr_t*>(heap + memory + low),
                        reinterpret_cast<const uintptr_t*>(heap + memory + high),
                        reinterpret_cast<const uintptr_t*>(heap + segment_map + low),
                        Load<uint32_t>(heap + shift)};
  }
}

void ResolveCodeBlob(const VmStructs& structs, Required& required, VmLayout* layout) {
  auto& blob = layout->blob;
  blob.name = required.Field({"CodeBlob"}, "_name");
  blob.size = required.Field({"CodeBlob"}, "_size");
  blob.frame_size = required.Field({"CodeBlob"}, "_frame_size");
  blob.frame_complete = required.Field({"CodeBlob"}, "_frame_complete_offset");
  blob.code_offset = structs.Field("CodeBlob", "_code_offset");
  blob.code_begin = structs.Field("CodeBlob", "_code_begin");
  blob.kind = structs.Field("CodeBlob", "_kind");
  blob.mutable_data = structs.Field("CodeBlob", "_mutable_data");
  blob.relocation_size = structs.Field("CodeBlob", "_relocation_size");
  blob.frame_complete_is_short = structs.HasType("CodeBlob", "_frame_complete_offset", "int16_t");
  required.OneOf("CodeBlob code", {blob.code_offset, blob.code_begin});
}

void ResolveNmethod(const VmStructs& structs, Required& required, VmLayout* layout) {
  auto& nmethod = layout->nmethod;
  const auto optional = [&structs](std::string_view field) {
    return structs.Field({"nmethod", "CompiledMethod"}, field);
  };
  nmethod.method = required.Field({"nmethod", "CompiledMethod"}, "_method");
  nmethod.comp_level = optional("_comp_level");
  nmethod.compile_id = optional("_compile_id");
  nmethod.orig_pc_offset = optional("_orig_pc_offset");
  nmethod.osr_entry = optional("_osr_entry_point");
  nmethod.stub_offset = optional("_stub_offset");
  nmethod.scopes_pcs_offset = required.Field({"nmethod"}, "_scopes_pcs_offset");
  nmethod.scopes_data_offset = optional("_scopes_data_offset");
  nmethod.scopes_data_begin = optional("_scopes_data_begin");
  nmethod.dependencies_offset = optional("_dependencies_offset");
  nmethod.metadata_offset = optional("_metadata_offset");
  nmethod.immutable_data = optional("_immutable_data");
  nmethod.verified_entry = optional("_verified_entry_point");
  nmethod.verified_entry_offset = optional("_verified_entry_offset");
  nmethod.deopt_handler = optional("_deopt_handler_begin");
  nmethod.deopt_handler_offset = optional("_deopt_handler_offset");
  if (nmethod.deopt_handler_offset == kAbsent) {  // since JDK 26
    nmethod.deopt_handler_offset = optional("_deopt_handler_entry_offset");
  }
  nmethod.deopt_mh_handler = optional("_deopt_mh_handler_begin");
  nmethod.deopt_mh_handler_offset = optional("_deopt_mh_handler_offset");

  required.OneOf("nmethod scopes", {nmethod.immutable_data, nmethod.scopes_data_begin});
  required.OneOf("nmethod PcDescs' end", {nmethod.immutable_data, nmethod.dependencies_offset});
  required.OneOf("nmethod metadata", {nmethod.metadata_offset, layout->blob.mutable_data});
  required.OneOf("nmethod verified entry", {nmethod.verified_entry, nmethod.verified_entry_offset});
}

void ResolveMethod(Required& required, VmLayout* layout) {
  auto& method = layout->method;
  method.const_method = required.Field({"Method"}, "_constMethod");
  method.constants = required.Field({"ConstMethod"}, "_constants");
  method.id_number = required.Field({"ConstMethod"}, "_method_idnum");
  method.code_size = required.Field({"ConstMethod"}, "_code_size");
  method.const_method_size = required.Size("ConstMethod");
  method.pool_holder = required.Field({"ConstantPool"}, "_pool_holder");
  method.jmethod_ids = required.Field({"InstanceKlass"}, "_methods_jmethod_ids");
}

void ResolveThread(const VmStructs& structs, VmLayout* layout) {
  auto& thread = layout->thread;
  thread.stack_base = structs.Field({"JavaThread", "Thread"}, "_stack_base");
  thread.stack_size = structs.Field({"JavaThread", "Thread"}, "_stack_size");
  // If it is not exported, the value that was found in code stays (machine_code.h).
  const Offset continuation_entry = structs.Field("JavaThread", "_cont_entry");
  if (continuation_entry != kAbsent) thread.continuation_entry = continuation_entry;
  thread.saved_exception_pc = structs.Field("JavaThread", "_saved_exception_pc");
  thread.monitor_owner_id = structs.Field("JavaThread", "_monitor_owner_id");
  thread.os_thread = structs.Field({"JavaThread", "Thread"}, "_osthread");
  thread.os_thread_id = structs.Field("OSThread", "_thread_id");
  thread.os_thread_state = structs.Field("OSThread", "_state");
  thread.os_runnable = structs.Constant("RUNNABLE");
  thread.os_monitor_wait = structs.Constant("MONITOR_WAIT");
  thread.os_condvar_wait = structs.Constant("CONDVAR_WAIT");
  thread.os_object_wait = structs.Constant("OBJECT_WAIT");
  thread.thread_state = structs.Field("JavaThread", "_thread_state");
  thread.thread_blocked = structs.Constant("_thread_blocked");
  thread.thread_in_native = structs.Constant("_thread_in_native");
  const uint32_t entry_size = structs.Size("ContinuationEntry");
  if (entry_size != 0) layout->continuation_entry_size = entry_size;
}

void ResolveInterpreter(const VmStructs& structs, Required& required, VmLayout* layout) {
  const Offset buffer = required.Field({"StubQueue"}, "_stub_buffer");
  const Offset limit = required.Field({"StubQueue"}, "_buffer_limit");
  const uintptr_t queue = structs.StaticPointer("AbstractInterpreter", "_code");
  if (buffer == kAbsent || limit == kAbsent || queue == 0) return;
  layout->interpreter_low = Load<uintptr_t>(queue + buffer);
  layout->interpreter_high =
      layout->interpreter_low + static_cast<uintptr_t>(Load<int32_t>(queue + limit));
}

}  // namespace

LocalSymbols ReadLocalSymbols(const char* libjvm_path, uintptr_t load_address) {
  const std::string_view names[] = {"SafeFetchN_impl", "_ZN12StubRoutines19_cont_returnBarrierE"};
  const std::vector<uint64_t> values = FindElfSymbols(libjvm_path, names);
  LocalSymbols symbols;
  if (values[0] != 0) {
    symbols.safe_fetch = reinterpret_cast<signal_safe::SafeFetchFunction>(load_address + values[0]);
  }
  if (values[1] != 0) symbols.continuation_return_barrier = load_address + values[1];
  return symbols;
}

absl::Status ResolveVmLayout(const VmStructs& structs, const LocalSymbols& symbols,
                             VmLayout* layout) {
  Required required(structs);
  ResolveCodeHeaps(required, layout);
  ResolveCodeBlob(structs, required, layout);
  ResolveNmethod(structs, required, layout);
  ResolveMethod(required, layout);
  ResolveThread(structs, layout);
  ResolveInterpreter(structs, required, layout);
  required.Static("StubRoutines", "_call_stub_return_address");
  layout->call_stub_return = structs.StaticPointer("StubRoutines", "_call_stub_return_address");

  uintptr_t barrier = structs.Static("StubRoutines", "_cont_returnBarrier");
  if (barrier == 0) barrier = symbols.continuation_return_barrier;
  if (barrier != 0) layout->continuation_return_barrier = Load<uintptr_t>(barrier);
  if (!required.status().ok()) return required.status();
  return CheckCodeCache(*layout);
}

absl::Status ResolveJniEnvOffset(JNIEnv* env, VmLayout* layout) {
  const auto java_thread = static_cast<uintptr_t>(CurrentThreadField(env, "eetop").value_or(0));
  if (java_thread == 0) return absl::NotFoundError("java.lang.Thread has no JavaThread in eetop");
  layout->thread.jni_env = static_cast<intptr_t>(reinterpret_cast<uintptr_t>(env) - java_thread);
  return absl::OkStatus();
}

bool IdsPointToMethods(JNIEnv* env, const VmLayout& layout) {
  jclass const object = env->FindClass("java/lang/Object");
  jmethodID const id = object == nullptr ? nullptr : env->GetMethodID(object, "hashCode", "()I");
  if (env->ExceptionCheck() == JNI_TRUE) env->ExceptionClear();
  if (object != nullptr) env->DeleteLocalRef(object);
  return samples::LooksLikeMethod(layout,
                                  signal_safe::SafeReadOr0(reinterpret_cast<uintptr_t>(id)));
}

bool AddInterpreterCodelets(const VmStructs& structs, StubRegistry* stubs) {
  const uintptr_t queue = structs.StaticPointer("AbstractInterpreter", "_code");
  const Offset buffer_at = structs.Field("StubQueue", "_stub_buffer");
  const Offset begin_at = structs.Field("StubQueue", "_queue_begin");
  const Offset end_at = structs.Field("StubQueue", "_queue_end");
  const Offset size_at = structs.Field("InterpreterCodelet", "_size");
  const Offset description_at = structs.Field("InterpreterCodelet", "_description");
  const uint32_t header = structs.Size("InterpreterCodelet");
  if (queue == 0 || header == 0 ||
      std::min({buffer_at, begin_at, end_at, size_at, description_at}) == kAbsent) {
    return false;
  }
  PageReader reader;
  bool are_named = false;
  const auto buffer = reader.Load<uintptr_t>(queue + buffer_at);
  const auto end = reader.Load<int32_t>(queue + end_at);
  for (auto at = reader.Load<int32_t>(queue + begin_at); at >= 0 && at < end;) {
    const uintptr_t codelet = buffer + static_cast<uintptr_t>(at);
    const auto size = reader.Load<int32_t>(codelet + size_at);
    if (size <= static_cast<int32_t>(header) || size > end - at) break;
    const auto description = reader.Load<uintptr_t>(codelet + description_at);
    const std::string name = description != 0 ? reader.Text(description) : std::string();
    are_named |= !name.empty();
    stubs->Add(name.empty() ? "interpreter codelet" : name, codelet + header,
               codelet + static_cast<uintptr_t>(size));
    at += size;
  }
  return are_named;
}

}  // namespace jtrace::jvm
