#include "agent/jvm/hotspot/vm_table_entries.h"

#include <cstddef>
#include <iterator>

namespace jtrace::jvm {
namespace {

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

std::span<const VmTableEntry> VmTableEntries() { return kReads; }

const LayoutSectionText& TextOf(LayoutSection section) {
  return kTexts[static_cast<size_t>(section)];
}

}  // namespace jtrace::jvm
