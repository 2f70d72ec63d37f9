#include "agent/jvm/hotspot/vm_structs.h"

#include <dlfcn.h>

#include <atomic>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "agent/jvm/hotspot/checked_read.h"

namespace jtrace::jvm {
namespace {

// Returns the value of an exported variable, 0 if there is none of that name. libjvm exports its
// tables, and the layout of their entries, as separate variables.
uintptr_t Exported(void* libjvm, const std::string& name) {
  void* const variable = dlsym(libjvm, name.c_str());
  return variable == nullptr ? 0 : Load<uintptr_t>(reinterpret_cast<uintptr_t>(variable));
}

// No structure of HotSpot is larger, in bytes. An offset beyond it is wrong, and counts as absent,
// because some objects are read without a guard.
constexpr uint64_t kLargestObject = 8192;

// More rows than any JVM has. Reading stops there if a table has no end.
constexpr int kMaxTableRows = 100'000;

// The rows of an exported table, up to the first without a name.
class Table {
 public:
  // `entry`: the part of the variables' names that is VMStruct in gHotSpotVMStructEntryArrayStride.
  Table(void* libjvm, PageReader& reader, const std::string& table, const std::string& entry,
        const std::string& name)
      : libjvm_(libjvm),
        reader_(reader),
        entry_("gHotSpot" + entry + "Entry"),
        rows_(Exported(libjvm, "gHotSpot" + table)),
        stride_(Exported(libjvm, entry_ + "ArrayStride")),
        name_at_(Column(name)) {}

  uintptr_t Column(const std::string& name) const {
    return Exported(libjvm_, entry_ + name + "Offset");
  }
  bool exists() const { return rows_ != 0 && stride_ != 0; }

  // visit(row, name) for each row.
  template <typename Visit>
  void ForEach(Visit visit) {
    uintptr_t row = rows_;
    for (int i = 0; exists() && i < kMaxTableRows; ++i, row += stride_) {
      const std::string name = TextAt(row + name_at_);
      if (name.empty()) return;
      visit(row, name);
    }
  }
  std::string TextAt(uintptr_t address) {
    const auto text = reader_.Load<uintptr_t>(address);
    return text == 0 ? std::string() : reader_.Text(text);
  }

 private:
  void* const libjvm_;
  PageReader& reader_;
  const std::string entry_;
  const uintptr_t rows_, stride_, name_at_;
};

using enum LayoutSection;
using enum VmTableEntryKind;

constexpr VmTableEntry kReads[] = {
    {kCodeCache, kStatic, "CodeCache", "_low_bound"},
    {kCodeCache, kStatic, "CodeCache", "_high_bound"},
    {kCodeCache, kStatic, "CodeCache", "_heaps"},
    {kCodeCache, kSize, "HeapBlock", ""},
    {kCodeCache, kField, "HeapBlock::Header", "_used"},
    {kCodeCache, kField, "CodeHeap", "_memory"},
    {kCodeCache, kField, "CodeHeap", "_segmap"},
    {kCodeCache, kField, "CodeHeap", "_log2_segment_size"},
    {kCodeCache, kField, "VirtualSpace", "_low"},
    {kCodeCache, kField, "VirtualSpace", "_high"},
    {kCodeCache, kField, "GrowableArrayBase", "_len"},
    {kCodeCache, kField, "GenericGrowableArray", "_len"},  // before JDK 16
    {kCodeCache, kField, "GrowableArray<int>", "_data"},
    {kCodeCache, kField, "CodeBlob", "_name"},
    {kCodeCache, kField, "CodeBlob", "_size"},
    {kCodeCache, kField, "CodeBlob", "_frame_size"},
    {kCodeCache, kField, "CodeBlob", "_frame_complete_offset"},
    {kCodeCache, kField, "CodeBlob", "_code_offset"},  // since JDK 24
    {kCodeCache, kField, "CodeBlob", "_code_begin"},   // before
    {kCodeCache, kField, "CodeBlob", "_kind"},         // since JDK 24
    {kCodeCache, kStatic, "StubRoutines", "_call_stub_return_address"},

    {kInterpreter, kStatic, "AbstractInterpreter", "_code"},
    {kInterpreter, kField, "StubQueue", "_stub_buffer"},
    {kInterpreter, kField, "StubQueue", "_buffer_limit"},
    {kCodelets, kField, "StubQueue", "_queue_begin"},
    {kCodelets, kField, "StubQueue", "_queue_end"},
    {kCodelets, kField, "InterpreterCodelet", "_size"},
    {kCodelets, kField, "InterpreterCodelet", "_description"},
    {kCodelets, kSize, "InterpreterCodelet", ""},

    // Fields of nmethod belong to its base class before JDK 23.
    {kCompiledCode, kField, "nmethod", "_method"},
    {kCompiledCode, kField, "CompiledMethod", "_method"},
    {kCompiledCode, kField, "nmethod", "_orig_pc_offset"},
    {kCompiledCode, kField, "nmethod", "_osr_entry_point"},
    {kCompiledCode, kField, "nmethod", "_stub_offset"},
    {kCompiledCode, kField, "nmethod", "_verified_entry_point"},
    {kCompiledCode, kField, "nmethod", "_verified_entry_offset"},
    {kCompiledCode, kField, "nmethod", "_deopt_handler_offset"},
    {kCompiledCode, kField, "nmethod", "_deopt_handler_entry_offset"},
    {kCompiledCode, kField, "nmethod", "_deopt_mh_handler_offset"},
    {kCompiledCode, kField, "CompiledMethod", "_deopt_handler_begin"},
    {kCompiledCode, kField, "CompiledMethod", "_deopt_mh_handler_begin"},
    {kCompiledCode, kField, "nmethod", "_compile_id"},

    {kInlining, kField, "nmethod", "_scopes_pcs_offset"},
    {kInlining, kField, "nmethod", "_scopes_data_offset"},
    {kInlining, kField, "CompiledMethod", "_scopes_data_begin"},
    {kInlining, kField, "nmethod", "_dependencies_offset"},
    {kInlining, kField, "nmethod", "_metadata_offset"},
    {kInlining, kField, "nmethod", "_immutable_data"},
    {kInlining, kField, "CodeBlob", "_mutable_data"},
    {kInlining, kField, "CodeBlob", "_relocation_size"},

    {kMethods, kField, "Method", "_constMethod"},
    {kMethods, kField, "ConstMethod", "_constants"},
    {kMethods, kField, "ConstMethod", "_method_idnum"},
    {kMethods, kField, "ConstMethod", "_code_size"},
    {kMethods, kSize, "ConstMethod", ""},
    {kMethods, kField, "ConstantPool", "_pool_holder"},
    {kMethods, kField, "InstanceKlass", "_methods_jmethod_ids"},

    {kContinuations, kField, "JavaThread", "_cont_entry"},
    {kContinuations, kSize, "ContinuationEntry", ""},
    {kContinuations, kStatic, "StubRoutines", "_cont_returnBarrier"},

    {kThreads, kField, "JavaThread", "_stack_base"},
    {kThreads, kField, "Thread", "_stack_base"},
    {kThreads, kField, "JavaThread", "_stack_size"},
    {kThreads, kField, "Thread", "_stack_size"},
    {kThreads, kField, "JavaThread", "_saved_exception_pc"},
    {kThreads, kField, "JavaThread", "_monitor_owner_id"},
    {kThreads, kField, "JavaThread", "_osthread"},
    {kThreads, kField, "Thread", "_osthread"},
    {kThreads, kField, "OSThread", "_thread_id"},
    {kThreads, kField, "OSThread", "_state"},
    {kThreads, kConstant, "", "RUNNABLE"},
    {kThreads, kConstant, "", "MONITOR_WAIT"},
    {kThreads, kConstant, "", "CONDVAR_WAIT"},
    {kThreads, kConstant, "", "OBJECT_WAIT"},
    {kThreads, kField, "JavaThread", "_thread_state"},
    {kThreads, kConstant, "", "_thread_blocked"},
    {kThreads, kConstant, "", "_thread_in_native"},

    {kWaits, kField, "JavaThread", "_current_pending_monitor"},
    {kWaits, kField, "Thread", "_current_pending_monitor"},
    {kWaits, kField, "JavaThread", "_current_waiting_monitor"},
    {kWaits, kField, "Thread", "_current_waiting_monitor"},
    {kWaits, kField, "ObjectMonitor", "_object"},
    {kWaits, kField, "JavaThread", "_vthread"},
    {kWaits, kField, "JavaThread", "_threadObj"},
    {kWaits, kStatic, "CompressedOops", "_narrow_oop._base"},
    {kWaits, kStatic, "CompressedOops", "_base"},  // since JDK 23
    {kWaits, kStatic, "CompressedOops", "_narrow_oop._shift"},
    {kWaits, kStatic, "CompressedOops", "_shift"},
    {kWaits, kField, "oopDesc", "_mark"},
    {kWaits, kField, "oopDesc", "_metadata._klass"},
    {kWaits, kField, "oopDesc", "_metadata._compressed_klass"},
    {kWaits, kField, "Klass", "_primary_supers[0]"},
    {kWaits, kStatic, "vmClasses", "_klasses[static_cast<int>(vmClassID::Object_klass_knum)]"},
    {kWaits, kStatic, "CompressedKlassPointers", "_narrow_klass._base"},
    {kWaits, kStatic, "CompressedKlassPointers", "_base"},
    {kWaits, kStatic, "CompressedKlassPointers", "_narrow_klass._shift"},
    {kWaits, kStatic, "CompressedKlassPointers", "_shift"},
    {kWaits, kLongConstant, "", "markWord::klass_shift"},
    {kWaits, kStatic, "Universe", "_collectedHeap"},
    {kWaits, kField, "CollectedHeap", "_is_stw_gc_active"},
    {kWaits, kField, "CollectedHeap", "_is_gc_active"},
    {kWaits, kField, "CollectedHeap", "_total_collections"},

    {kAllocation, kField, "Thread", "_allocated_bytes"},
    {kAllocation, kField, "JavaThread", "_allocated_bytes"},
    {kAllocation, kField, "Thread", "_tlab"},
    {kAllocation, kField, "JavaThread", "_tlab"},
    {kAllocation, kField, "ThreadLocalAllocBuffer", "_top"},
    {kAllocation, kField, "ThreadLocalAllocBuffer", "_start"},

    {kMethodTexts, kField, "InstanceKlass", "_methods"},
    {kMethodTexts, kField, "Array<int>", "_length"},
    {kMethodTexts, kField, "Array<Method*>", "_data"},
    {kMethodTexts, kField, "ConstMethod", "_name_index"},
    {kMethodTexts, kField, "ConstMethod", "_signature_index"},
    {kMethodTexts, kField, "Klass", "_name"},
    {kMethodTexts, kField, "Symbol", "_length"},
    {kMethodTexts, kField, "Symbol", "_body[0]"},
    {kMethodTexts, kSize, "ConstantPool", ""},
    {kMethodTexts, kStatic, "java_lang_Class", "_klass_offset"},

    {kFlags, kField, "JVMFlag", "_name"},
    {kFlags, kField, "JVMFlag", "_addr"},
    {kFlags, kField, "JVMFlag", "_flags"},
    {kFlags, kSize, "JVMFlag", ""},
    {kFlags, kStatic, "JVMFlag", "flags"},
    {kFlags, kStatic, "JVMFlag", "numFlags"},

    {kCollections, kStatic, "PerfMemory", "_prologue"},

    {kLevels, kField, "nmethod", "_comp_level"},
    {kLevels, kField, "nmethod", "_entry_bci"},
    {kLevels, kField, "Method", "_code"},
};

// In the order of LayoutSection.
constexpr LayoutSectionText kTexts[] = {
    {"code_cache", "samples have native frames only",
     "bounds compared with each other; the first blobs of each heap walked; the interpreter and "
     "the call stub found in blobs of these names",
     false},
    {"interpreter", "samples have native frames only", "its codelets fill the blob of its name",
     false},
    {"codelets", "code of the interpreter has one name in samples",
     "each piece has a size that leads to the next one", true},
    {"compiled_code", "compiled methods are stubs in samples, and their callers may be missing",
     "of the first compilations: begin of the code as reported, size of the frame as its code "
     "makes it, entries and handlers inside",
     false},
    {"inlining", "samples lack inlined methods",
     "of the first compilations: methods and bytecode indexes as reported", false},
    {"methods", "samples have native frames only",
     "java.lang.Object.equals: its class, its id, the number of its bytecodes and the last of them",
     false},
    {"continuations", "stacks of virtual threads end where they begin to run",
     "a platform thread has none", false},
    {"threads", "threads are known less well: what they wait for, or samples while they do",
     "of the starting thread: its stack, its number in the kernel and in Java, its state", false},
    {"waits", "the classes of objects that threads wait for are unknown",
     "of the starting thread: its Thread object has its number, and it waits for no monitor; each "
     "object's class must have Object as its first superclass",
     true},
    {"allocation", "alloc.bytes by thread and by path is unknown", "an array is allocated", false},
    {"method_texts", "each method gets a jmethodID, which takes memory",
     "methods of java.lang.Object", true},
    {"flags", "what depends on -XX options is not read",
     "values of booleans are 0 or 1; before one is written: that of ReservedCodeCacheSize is the "
     "code cache's",
     true},
    {"collections", "collections have no cause", "the counters' own magic number and names", true},
    {"levels", "the compiler of a method is unknown",
     "levels are from 1 to 4, bytecode indexes below 65,536", true},
};
static_assert(std::size(kTexts) == kLayoutSectionCount);

}  // namespace

// The entries that may be read, by kind and name.
struct VmStructs::Rows {
  absl::flat_hash_map<Key, Key> fields, statics;
  absl::flat_hash_map<std::string_view, std::string_view> sizes, constants, long_constants;

  Rows() {
    for (const VmTableEntry& read : VmTableEntries()) {
      const Key key{read.type, read.field};
      switch (read.kind) {
        case VmTableEntryKind::kField:
          fields.emplace(key, key);
          break;
        case VmTableEntryKind::kStatic:
          statics.emplace(key, key);
          break;
        case VmTableEntryKind::kSize:
          sizes.emplace(read.type, read.type);
          break;
        case VmTableEntryKind::kConstant:
          constants.emplace(read.field, read.field);
          break;
        case VmTableEntryKind::kLongConstant:
          long_constants.emplace(read.field, read.field);
          break;
      }
    }
  }
};

absl::StatusOr<const VmStructs*> VmStructs::Of(const void* libjvm_address) {
  struct Known {
    const void* library;
    VmStructs structs;
  };
  static std::atomic<const Known*> known = nullptr;
  Dl_info info;
  if (libjvm_address == nullptr || dladdr(libjvm_address, &info) == 0) {
    return absl::NotFoundError("libjvm was not found");
  }
  const Known* const before = known.load();
  if (before != nullptr && before->library == info.dli_fbase) return &before->structs;
  void* const libjvm = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  if (libjvm == nullptr) return absl::NotFoundError(absl::StrCat("cannot open ", info.dli_fname));
  absl::StatusOr<VmStructs> structs = Read(libjvm);
  dlclose(libjvm);
  if (!structs.ok()) return structs.status();
  // Two threads may both read. Neither result is freed, because callers keep pointers to it.
  const auto* const result = new Known{info.dli_fbase, *std::move(structs)};
  known.store(result);
  return &result->structs;
}

absl::StatusOr<VmStructs> VmStructs::Read(void* libjvm) {
  for (const char* const name : {"gHotSpotVMStructs", "gHotSpotVMStructEntryArrayStride",
                                 "gHotSpotVMTypes", "gHotSpotVMTypeEntryArrayStride"}) {
    if (Exported(libjvm, name) == 0) {
      return absl::NotFoundError(absl::StrCat("the JVM does not export ", name));
    }
  }
  PageReader reader;
  const Rows rows;
  VmStructs result;
  result.ReadFields(libjvm, reader, rows);
  result.ReadTypes(libjvm, reader, rows);
  return result;
}

void VmStructs::ReadFields(void* libjvm, PageReader& reader, const Rows& rows) {
  Table table(libjvm, reader, "VMStructs", "VMStruct", "TypeName");
  const uintptr_t field_at = table.Column("FieldName");
  const uintptr_t type_at = table.Column("TypeString");
  const uintptr_t static_at = table.Column("IsStatic");
  const uintptr_t offset_at = table.Column("Offset");
  const uintptr_t address_at = table.Column("Address");
  table.ForEach([&](uintptr_t row, const std::string& type) {
    const std::string field = table.TextAt(row + field_at);
    const bool is_static = reader.Load<int32_t>(row + static_at) != 0;
    const auto& wanted = is_static ? rows.statics : rows.fields;
    const auto found = wanted.find(Key{type, field});
    if (found == wanted.end()) return;
    if (is_static) {
      const auto address = reader.Load<uintptr_t>(row + address_at);
      uint8_t byte;
      if (CheckedCopy(address, &byte, sizeof byte)) statics_.emplace(found->second, address);
      return;
    }
    const auto offset = reader.Load<uint64_t>(row + offset_at);
    if (offset >= kLargestObject) return;
    offsets_.emplace(found->second, static_cast<int32_t>(offset));
    field_types_.emplace(found->second, table.TextAt(row + type_at));
  });
}

// A JVM may lack the tables of constants: then less is known, but nothing is wrong.
void VmStructs::ReadTypes(void* libjvm, PageReader& reader, const Rows& rows) {
  const auto read = [&](Table table, const char* column, const auto& wanted, auto& into) {
    const uintptr_t value_at = table.Column(column);
    table.ForEach([&](uintptr_t row, const std::string& name) {
      using Value = typename std::remove_cvref_t<decltype(into)>::mapped_type;
      const auto found = wanted.find(name);
      if (found != wanted.end()) into.emplace(found->second, reader.Load<Value>(row + value_at));
    });
  };
  read(Table(libjvm, reader, "VMTypes", "VMType", "TypeName"), "Size", rows.sizes, sizes_);
  absl::erase_if(sizes_, [](const auto& row) { return row.second > kLargestObject; });
  read(Table(libjvm, reader, "VMIntConstants", "VMIntConstant", "Name"), "Value", rows.constants,
       constants_);
  read(Table(libjvm, reader, "VMLongConstants", "VMLongConstant", "Name"), "Value",
       rows.long_constants, long_constants_);
}

bool VmStructs::HasType(std::string_view type, std::string_view field,
                        std::string_view its_type) const {
  const auto found = field_types_.find(Key{type, field});
  return found != field_types_.end() && found->second == its_type;
}

int64_t VmStructs::LongConstant(std::string_view name) const {
  const auto found = long_constants_.find(name);
  return found != long_constants_.end() ? found->second : samples::kNoValue;
}

int32_t VmStructs::Constant(std::string_view name) const {
  const auto found = constants_.find(name);
  return found != constants_.end() ? found->second : samples::kNoValue;
}

samples::Offset VmStructs::Field(std::string_view type, std::string_view field) const {
  const auto found = offsets_.find(Key{type, field});
  return found != offsets_.end() ? found->second : samples::kAbsent;
}

samples::Offset VmStructs::Field(std::initializer_list<std::string_view> types,
                                 std::string_view field) const {
  for (const std::string_view type : types) {
    const samples::Offset offset = Field(type, field);
    if (offset != samples::kAbsent) return offset;
  }
  return samples::kAbsent;
}

uintptr_t VmStructs::Static(std::string_view type, std::string_view field) const {
  const auto found = statics_.find(Key{type, field});
  return found != statics_.end() ? found->second : 0;
}

uintptr_t VmStructs::StaticPointer(std::string_view type, std::string_view field) const {
  const uintptr_t address = Static(type, field);
  return address != 0 ? Load<uintptr_t>(address) : 0;
}

uint32_t VmStructs::Size(std::string_view type) const {
  const auto found = sizes_.find(type);
  return found != sizes_.end() ? found->second : 0;
}

std::span<const VmTableEntry> VmTableEntries() { return kReads; }

const LayoutSectionText& TextOf(LayoutSection section) {
  return kTexts[static_cast<size_t>(section)];
}

}  // namespace jtrace::jvm
