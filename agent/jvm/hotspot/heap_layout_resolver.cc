#include "agent/jvm/hotspot/heap_layout_resolver.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "agent/jvm/hotspot/checked_read.h"
#include "agent/jvm/hotspot/java_thread_layout.h"

namespace jtrace::jvm {

using samples::kAbsent;
using samples::Offset;
using signal_safe::HeapLayout;

namespace {

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

}  // namespace

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

}  // namespace jtrace::jvm
