// Offsets and addresses with which a signal handler follows HotSpot's references to Java objects.
#pragma once

#include <cstdint>

namespace jtrace::signal_safe {

// Offsets are in bytes. Filled by agent/jvm/hotspot/heap_layout_resolver when a recording starts,
// before its handlers run; nothing in it is meaningful unless `readable`.
struct HeapLayout {
  // Whether everything below is known, and the collector moves objects only in pauses or leaves the
  // moved object's header unchanged.
  bool readable = false;

  int32_t pending_monitor = 0;  // JavaThread → ObjectMonitor that it is entering
  int32_t waiting_monitor = 0;  // JavaThread → ObjectMonitor in whose wait it is
  int32_t monitor_object = 0;   // ObjectMonitor → handle
  int32_t thread_object = 0;    // JavaThread → handle of the Thread, a mounted virtual one first
  int32_t park_blocker = 0;     // in java.lang.Thread
  int32_t thread_id = 0;        // in java.lang.Thread: a whole word; 0: not known

  // How fields of type reference are compressed; a handle has an uncompressed word.
  bool narrow_references = false;
  uintptr_t reference_base = 0;
  uint32_t reference_shift = 0;

  // Where an object has its class.
  enum class KlassWord : uint8_t { kPointer, kNarrow, kInMark };
  KlassWord klass_word = KlassWord::kPointer;
  int32_t mark = 0;
  int32_t klass = 0;              // kPointer, kNarrow
  uint32_t mark_klass_shift = 0;  // kInMark
  uintptr_t klass_base = 0;       // kNarrow, kInMark
  uint32_t klass_shift = 0;       // kNarrow, kInMark

  // To recognise a Klass: the first of its superclasses is that of java.lang.Object.
  int32_t first_super = 0;
  uintptr_t object_klass = 0;

  // Addresses of the JVM's own variables: whether a collection stops the program now (a byte), and
  // how many collections there were (four bytes).
  uintptr_t collecting = 0;
  uintptr_t collections = 0;
};

}  // namespace jtrace::signal_safe
