#include "agent/jvm/hotspot/vm_layout_resolver.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "agent/jvm/hotspot/checked_read.h"
#include "agent/jvm/hotspot/elf_symbols.h"
#include "agent/jvm/hotspot/java_thread_layout.h"
#include "agent/jvm/hotspot/jvm_flags.h"
#include "agent/jvm/hotspot/stub_registry.h"
#include "agent/samples/walk/call_instruction.h"
#include "agent/samples/walk/method_ref.h"

namespace jtrace::jvm {

using samples::kAbsent;
using samples::Offset;
using samples::VmLayout;
using signal_safe::HeapLayout;

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

// Returns a static field's address by its name before JDK 23 or since; 0 if there is none.
uintptr_t StaticOf(const VmStructs& structs, std::string_view type, std::string_view before,
                   std::string_view since) {
  const uintptr_t address = structs.Static(type, since);
  return address != 0 ? address : structs.Static(type, before);
}

bool ResolveMonitors(const VmStructs& structs, HeapLayout* heap) {
  heap->pending_monitor = structs.Field({"JavaThread", "Thread"}, "_current_pending_monitor");
  heap->waiting_monitor = structs.Field({"JavaThread", "Thread"}, "_current_waiting_monitor");
  heap->monitor_object = structs.Field("ObjectMonitor", "_object");
  heap->thread_object = structs.Field("JavaThread", "_vthread");
  if (heap->thread_object == kAbsent) {
    heap->thread_object = structs.Field("JavaThread", "_threadObj");
  }
  return std::min({heap->pending_monitor, heap->waiting_monitor, heap->monitor_object,
                   heap->thread_object}) != kAbsent;
}

bool ResolveReferences(const VmStructs& structs, const JvmFlags& flags, HeapLayout* heap) {
  const auto narrow = flags.Bool("UseCompressedOops");
  const uintptr_t base = StaticOf(structs, "CompressedOops", "_narrow_oop._base", "_base");
  const uintptr_t shift = StaticOf(structs, "CompressedOops", "_narrow_oop._shift", "_shift");
  if (!narrow.has_value()) return false;
  heap->narrow_references = *narrow;
  if (!*narrow) return true;
  if (base == 0 || shift == 0) return false;
  heap->reference_base = Load<uintptr_t>(base);
  heap->reference_shift = Load<uint32_t>(shift);
  return true;
}

bool ResolveKlassWord(const VmStructs& structs, const JvmFlags& flags, HeapLayout* heap) {
  heap->mark = structs.Field("oopDesc", "_mark");
  heap->first_super = structs.Field("Klass", "_primary_supers[0]");
  heap->object_klass = structs.StaticPointer(
      "vmClasses", "_klasses[static_cast<int>(vmClassID::Object_klass_knum)]");
  if (heap->mark == kAbsent || heap->first_super == kAbsent || heap->object_klass == 0) {
    return false;
  }
  const bool in_mark = flags.Bool("UseCompactObjectHeaders").value_or(false);
  if (!in_mark && !flags.Bool("UseCompressedClassPointers").value_or(true)) {
    heap->klass_word = HeapLayout::KlassWord::kPointer;
    heap->klass = structs.Field("oopDesc", "_metadata._klass");
    return heap->klass != kAbsent;
  }
  const uintptr_t base =
      StaticOf(structs, "CompressedKlassPointers", "_narrow_klass._base", "_base");
  const uintptr_t shift =
      StaticOf(structs, "CompressedKlassPointers", "_narrow_klass._shift", "_shift");
  if (base == 0 || shift == 0) return false;
  heap->klass_base = Load<uintptr_t>(base);
  heap->klass_shift = Load<uint32_t>(shift);
  if (!in_mark) {
    heap->klass_word = HeapLayout::KlassWord::kNarrow;
    heap->klass = structs.Field("oopDesc", "_metadata._compressed_klass");
    return heap->klass != kAbsent;
  }
  const int64_t mark_shift = structs.LongConstant("markWord::klass_shift");
  heap->klass_word = HeapLayout::KlassWord::kInMark;
  heap->mark_klass_shift = static_cast<uint32_t>(mark_shift);
  return mark_shift > 0 && mark_shift < 64;
}

bool ResolveCollections(const VmStructs& structs, HeapLayout* heap) {
  const uintptr_t collected = structs.StaticPointer("Universe", "_collectedHeap");
  Offset active = structs.Field("CollectedHeap", "_is_stw_gc_active");
  if (active == kAbsent) active = structs.Field("CollectedHeap", "_is_gc_active");
  const Offset count = structs.Field("CollectedHeap", "_total_collections");
  if (collected == 0 || active == kAbsent || count == kAbsent) return false;
  heap->collecting = collected + static_cast<uintptr_t>(active);
  heap->collections = collected + static_cast<uintptr_t>(count);
  return true;
}

constexpr uintptr_t kMaxBytes = uintptr_t{1} << 32;
constexpr int kBlobsOfAHeap = 32;
constexpr uint8_t kFree = 0xff;

absl::Status Wrong(std::string_view what) {
  return absl::FailedPreconditionError(absl::StrCat(
      "the code cache of this JVM is not as its tables say (", std::string(what), ")"));
}

// A code heap, read once.
struct Heap {
  uintptr_t low, high;
  uint32_t shift;
  std::vector<uint8_t> map;  // a byte for each segment (BlockOf)

  uintptr_t AddressOf(size_t segment) const { return low + (segment << shift); }
  // The first segment after `segment` at which a block begins.
  size_t BlockAfter(size_t segment) const {
    do {
      ++segment;
    } while (segment < map.size() && map[segment] != 0);
    return segment;
  }
  // The segment at which the block with `address` begins; none if it is free or not in this heap.
  // An entry is the number of segments to go back, in several hops if they are many.
  std::optional<size_t> BlockOf(uintptr_t address) const {
    if (address < low || address >= low + (map.size() << shift)) return std::nullopt;
    size_t segment = (address - low) >> shift;
    while (map[segment] != 0) {
      if (map[segment] == kFree || map[segment] > segment) return std::nullopt;
      segment -= map[segment];
    }
    return segment;
  }
};

class CodeCacheCheck {
 public:
  explicit CodeCacheCheck(const VmLayout& layout) : layout_(layout) {}

  absl::Status Run() {
    low_ = Variable(layout_.code_low);
    high_ = Variable(layout_.code_high);
    if (low_ == 0 || high_ <= low_ || high_ - low_ > kMaxBytes) return Wrong("its bounds");
    if (layout_.heap_count <= 0) return Wrong("no heaps");
    for (int i = 0; i < layout_.heap_count; ++i) {
      Heap heap;
      if (absl::Status status = ReadHeap(layout_.heaps[i], &heap); !status.ok()) return status;
      if (absl::Status status = WalkBlobs(heap); !status.ok()) return status;
      // The walk may end before these two: an AOT cache puts hundreds of adapters before them.
      CheckBlobAt(heap, layout_.interpreter_low);
      CheckBlobAt(heap, layout_.call_stub_return);
    }
    if (!has_interpreter_) return Wrong("the interpreter is in no blob of that name");
    return has_call_stub_ ? absl::OkStatus()
                          : Wrong("the call stub does not return to where a call ends");
  }

 private:
  uintptr_t Variable(const uintptr_t* address) {
    return reader_.Load<uintptr_t>(reinterpret_cast<uintptr_t>(address));
  }
  template <typename T>
  T Field(uintptr_t object, samples::Offset offset) {
    return reader_.Load<T>(object + static_cast<uintptr_t>(offset));
  }

  absl::Status ReadHeap(const VmLayout::CodeHeap& from, Heap* heap) {
    *heap = {Variable(from.low), Variable(from.high), from.segment_shift, {}};
    if (heap->low < low_ || heap->high <= heap->low || heap->high > high_) {
      return Wrong("a heap's bounds");
    }
    if (heap->shift < 4 || heap->shift > 16) return Wrong("a heap's segments");
    heap->map.resize((heap->high - heap->low) >> heap->shift);
    if (!CheckedCopy(Variable(from.segment_map), heap->map.data(), heap->map.size())) {
      return Wrong("a heap's segment map");
    }
    const bool begins = !heap->map.empty() && (heap->map[0] == 0 || heap->map[0] == kFree);
    return begins ? absl::OkStatus() : Wrong("a heap does not begin with a block");
  }

  // A compiler may be making some of the blobs right now. If an offset is wrong, all blobs are.
  absl::Status WalkBlobs(const Heap& heap) {
    constexpr int kMaxWrongShare = 4;
    int right = 0, wrong = 0;
    absl::Status last = absl::OkStatus();
    for (size_t at = 0; at < heap.map.size() && right + wrong < kBlobsOfAHeap;) {
      const size_t next = heap.BlockAfter(at);
      const uintptr_t block = heap.AddressOf(at);
      const bool is_block = heap.map[at] == 0;
      at = next;
      if (!is_block) continue;
      const auto used = Field<uint8_t>(block, layout_.heap_block_used);
      if (used == 0) continue;
      const absl::Status status =
          used > 1 ? Wrong("blocks are neither used nor free")
                   : CheckBlob(block + layout_.heap_block_header, heap.AddressOf(next));
      ++(status.ok() ? right : wrong);
      if (!status.ok()) last = status;
    }
    return wrong * kMaxWrongShare > right ? last : absl::OkStatus();
  }

  void CheckBlobAt(const Heap& heap, uintptr_t address) {
    const std::optional<size_t> segment = heap.BlockOf(address);
    if (!segment.has_value()) return;
    const uintptr_t blob = heap.AddressOf(*segment) + layout_.heap_block_header;
    CheckBlob(blob, heap.AddressOf(heap.BlockAfter(*segment))).IgnoreError();
  }

  // Checks a blob, which must end before `limit`, where the next one begins.
  absl::Status CheckBlob(uintptr_t blob, uintptr_t limit) {
    const auto size = Field<int32_t>(blob, layout_.blob.size);
    const uintptr_t end = blob + static_cast<uintptr_t>(std::max(size, 0));
    if (size <= 0 || end > limit) return Wrong("a blob's size");
    const uintptr_t code = CodeOf(blob);
    if (code <= blob || code > end) return Wrong("where a blob's code begins");
    const auto frame_size = Field<int32_t>(blob, layout_.blob.frame_size);
    if (frame_size < -1 || frame_size > size) return Wrong("a blob's frame size");
    const std::string name = reader_.Text(Field<uintptr_t>(blob, layout_.blob.name), 64);
    constexpr auto is_text = [](char c) { return c >= ' ' && c <= '~'; };
    if (name.size() < 2 || !std::all_of(name.begin(), name.end(), is_text)) {
      return Wrong("a blob's name");
    }
    if (name == "Interpreter") {
      has_interpreter_ |= IsInterpreter(code, end);
    } else if (name != "nmethod" && name != "native nmethod") {
      has_call_stub_ |= HasCallStub(code, end);
    }
    return absl::OkStatus();
  }

  uintptr_t CodeOf(uintptr_t blob) {
    return layout_.blob.code_offset != kAbsent
               ? blob + static_cast<uintptr_t>(Field<int32_t>(blob, layout_.blob.code_offset))
               : Field<uintptr_t>(blob, layout_.blob.code_begin);
  }

  // Whether the queue of the interpreter's codelets fills this code of a blob.
  bool IsInterpreter(uintptr_t code, uintptr_t end) const {
    constexpr uintptr_t kAlignment = 64;
    return layout_.interpreter_low >= code && layout_.interpreter_low - code < kAlignment &&
           layout_.interpreter_high > layout_.interpreter_low && layout_.interpreter_high <= end &&
           end - layout_.interpreter_high < kAlignment;
  }

  // Whether this code of a blob has the call stub: a call ends where it returns. The blob has many
  // names: "StubRoutines (1)" or "(initial stubs)", from an AOT cache "initial_blob (stub gen)".
  bool HasCallStub(uintptr_t code, uintptr_t end) {
    std::array<uint8_t, 8> before;
    const uintptr_t address = layout_.call_stub_return;
    if (address < code + before.size() || address >= end) return false;
    return reader_.Copy(address - before.size(), before.data(), before.size()) &&
           samples::EndsWithCall(before.data());
  }

  const VmLayout& layout_;
  PageReader reader_;
  uintptr_t low_ = 0, high_ = 0;
  bool has_interpreter_ = false, has_call_stub_ = false;
};

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

bool IsKnownCollector(const JvmFlags& flags) {
  constexpr std::string_view kKnown[] = {"UseSerialGC", "UseParallelGC", "UseG1GC",
                                         "UseShenandoahGC", "UseEpsilonGC"};
  return std::any_of(std::begin(kKnown), std::end(kKnown),
                     [&](std::string_view name) { return flags.Bool(name).value_or(false); });
}

HeapLayout ResolveHeapLayout(const VmStructs& structs, const JvmFlags& flags, JNIEnv* env) {
  HeapLayout heap;
  heap.park_blocker = ThreadFieldOffset(env, "parkBlocker");
  heap.thread_id = ThreadFieldOffset(env, "tid");
  heap.readable = IsKnownCollector(flags) && heap.park_blocker != kAbsent &&
                  ResolveMonitors(structs, &heap) && ResolveReferences(structs, flags, &heap) &&
                  ResolveKlassWord(structs, flags, &heap) && ResolveCollections(structs, &heap);
  return heap;
}

absl::Status CheckCodeCache(const VmLayout& layout) {
  // A small heap may have one blob, and a compiler may be making it.
  constexpr int kTries = 3;
  constexpr useconds_t kPauseUs = 1000;
  absl::Status status = CodeCacheCheck(layout).Run();
  for (int i = 1; i < kTries && !status.ok(); ++i) {
    usleep(kPauseUs);
    status = CodeCacheCheck(layout).Run();
  }
  return status;
}

}  // namespace jtrace::jvm
