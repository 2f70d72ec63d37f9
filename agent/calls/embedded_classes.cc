#include "agent/calls/embedded_classes.h"

extern "C" {
extern const unsigned char jtrace_class_JTraceProbe[];
extern const unsigned long jtrace_class_JTraceProbe_size;
extern const unsigned char jtrace_class_JTraceLayout[];
extern const unsigned long jtrace_class_JTraceLayout_size;
extern const unsigned char jtrace_class_JTraceMemory[];
extern const unsigned long jtrace_class_JTraceMemory_size;
extern const unsigned char jtrace_class_JTraceThreads[];
extern const unsigned long jtrace_class_JTraceThreads_size;
extern const unsigned char jtrace_class_JTraceTree[];
extern const unsigned long jtrace_class_JTraceTree_size;
extern const unsigned char jtrace_class_JTraceSlots[];
extern const unsigned long jtrace_class_JTraceSlots_size;
extern const unsigned char jtrace_class_JTracePruner[];
extern const unsigned long jtrace_class_JTracePruner_size;
extern const unsigned char jtrace_class_JTraceClock[];
extern const unsigned long jtrace_class_JTraceClock_size;
extern const unsigned char jtrace_class_JTraceCharges[];
extern const unsigned long jtrace_class_JTraceCharges_size;
extern const unsigned char jtrace_class_JTraceOutside[];
extern const unsigned long jtrace_class_JTraceOutside_size;
extern const unsigned char jtrace_class_JTraceMetrics[];
extern const unsigned long jtrace_class_JTraceMetrics_size;
extern const unsigned char jtrace_class_NativeCounters[];
extern const unsigned long jtrace_class_NativeCounters_size;
extern const unsigned char jtrace_class_JTraceExits[];
extern const unsigned long jtrace_class_JTraceExits_size;
extern const unsigned char jtrace_class_JTraceLog[];
extern const unsigned long jtrace_class_JTraceLog_size;
extern const unsigned char jtrace_class_JTraceBlocks[];
extern const unsigned long jtrace_class_JTraceBlocks_size;
extern const unsigned char jtrace_class_JTracePaths[];
extern const unsigned long jtrace_class_JTracePaths_size;
extern const unsigned char jtrace_class_JTraceRing[];
extern const unsigned long jtrace_class_JTraceRing_size;
extern const unsigned char jtrace_class_JTraceCurrent[];
extern const unsigned long jtrace_class_JTraceCurrent_size;
extern const unsigned char jtrace_class_JTracePlain[];
extern const unsigned long jtrace_class_JTracePlain_size;
extern const unsigned char jtrace_class_JTraceFlat[];
extern const unsigned long jtrace_class_JTraceFlat_size;
extern const unsigned char jtrace_class_JTraceResting[];
extern const unsigned long jtrace_class_JTraceResting_size;
extern const unsigned char jtrace_class_JTraceUnwind[];
extern const unsigned long jtrace_class_JTraceUnwind_size;
extern const unsigned char jtrace_class_JTraceWait[];
extern const unsigned long jtrace_class_JTraceWait_size;
extern const unsigned char jtrace_class_NativeWait[];
extern const unsigned long jtrace_class_NativeWait_size;
extern const unsigned char jtrace_class_NativeIo[];
extern const unsigned long jtrace_class_NativeIo_size;
extern const unsigned char jtrace_class_NativeUnwind[];
extern const unsigned long jtrace_class_NativeUnwind_size;
extern const unsigned char jtrace_class_NativeMetrics[];
extern const unsigned long jtrace_class_NativeMetrics_size;
extern const unsigned char jtrace_class_NativeClock[];
extern const unsigned long jtrace_class_NativeClock_size;
}

namespace jtrace::calls {

absl::Span<const EmbeddedClass> EmbeddedProbeClasses() {
  static const EmbeddedClass classes[] = {
      {kProbeClass, {jtrace_class_JTraceProbe, jtrace_class_JTraceProbe_size}},
      {kLayoutClass, {jtrace_class_JTraceLayout, jtrace_class_JTraceLayout_size}},
      {"java/lang/invoke/JTraceMemory",
       {jtrace_class_JTraceMemory, jtrace_class_JTraceMemory_size}},
      {"java/lang/invoke/JTraceThreads",
       {jtrace_class_JTraceThreads, jtrace_class_JTraceThreads_size}},
      {"java/lang/invoke/JTraceTree", {jtrace_class_JTraceTree, jtrace_class_JTraceTree_size}},
      {"java/lang/invoke/JTraceSlots", {jtrace_class_JTraceSlots, jtrace_class_JTraceSlots_size}},
      {"java/lang/invoke/JTracePruner",
       {jtrace_class_JTracePruner, jtrace_class_JTracePruner_size}},
      {kClockClass, {jtrace_class_JTraceClock, jtrace_class_JTraceClock_size}},
      {kChargesClass, {jtrace_class_JTraceCharges, jtrace_class_JTraceCharges_size}},
      {kExitsClass, {jtrace_class_JTraceExits, jtrace_class_JTraceExits_size}},
      {"java/lang/invoke/JTraceOutside",
       {jtrace_class_JTraceOutside, jtrace_class_JTraceOutside_size}},
      {kLogClass, {jtrace_class_JTraceLog, jtrace_class_JTraceLog_size}},
      {kRingClass, {jtrace_class_JTraceRing, jtrace_class_JTraceRing_size}},
      {kBlocksClass, {jtrace_class_JTraceBlocks, jtrace_class_JTraceBlocks_size}},
      {"java/lang/invoke/JTracePaths", {jtrace_class_JTracePaths, jtrace_class_JTracePaths_size}},
      {"java/lang/invoke/JTraceCurrent",
       {jtrace_class_JTraceCurrent, jtrace_class_JTraceCurrent_size}},
      {"java/lang/invoke/JTracePlain", {jtrace_class_JTracePlain, jtrace_class_JTracePlain_size}},
      {"java/lang/invoke/JTraceFlat", {jtrace_class_JTraceFlat, jtrace_class_JTraceFlat_size}},
      {kRestingClass, {jtrace_class_JTraceResting, jtrace_class_JTraceResting_size}},
  };
  return classes;
}

absl::Span<const uint8_t> EmbeddedProbeClass() { return EmbeddedProbeClasses().front().bytes; }

absl::Span<const uint8_t> EmbeddedNativeIo() {
  return {jtrace_class_NativeIo, jtrace_class_NativeIo_size};
}

absl::Span<const uint8_t> EmbeddedNativeUnwind() {
  return {jtrace_class_NativeUnwind, jtrace_class_NativeUnwind_size};
}

absl::Span<const uint8_t> EmbeddedNativeMetrics() {
  return {jtrace_class_NativeMetrics, jtrace_class_NativeMetrics_size};
}

absl::Span<const uint8_t> EmbeddedUnwindClass() {
  return {jtrace_class_JTraceUnwind, jtrace_class_JTraceUnwind_size};
}

absl::Span<const uint8_t> EmbeddedNativeWait() {
  return {jtrace_class_NativeWait, jtrace_class_NativeWait_size};
}

absl::Span<const uint8_t> EmbeddedWaitClass() {
  return {jtrace_class_JTraceWait, jtrace_class_JTraceWait_size};
}

absl::Span<const uint8_t> EmbeddedNativeCounters() {
  return {jtrace_class_NativeCounters, jtrace_class_NativeCounters_size};
}

absl::Span<const uint8_t> EmbeddedMetricsClass() {
  return {jtrace_class_JTraceMetrics, jtrace_class_JTraceMetrics_size};
}

absl::Span<const uint8_t> EmbeddedNativeClock() {
  return {jtrace_class_NativeClock, jtrace_class_NativeClock_size};
}

}  // namespace jtrace::calls
