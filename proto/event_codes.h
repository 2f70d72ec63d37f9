// The one table of the kinds of records by major and minor code (S3.1): their switches in codes=,
// their ops in dumps, their names for people. FORMAT.md describes the same records.
//
// The agent records by it, the post-processor reads by it. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "proto/trace_format.h"

namespace jtrace::format {

// A kind of record that codes= switches.
enum class Code : uint8_t {
  kInterrupt,
  kNamedThread,
  kUnnamedThread,
  kGcThread,
  kThreadSwitch,
  kClass,
  kClassMethod,
  kClassPrepare,
  kClassRedefine,
  kClassUnprobed,
  kInterpreted,
  kBoundary,
  kThrown,
  kCaught,
  kNativeHook,
  kSample,
  kUnwind,
  kJitted,
  kJitCode,
  kJitInlining,
  kStub,
  kGc,
  kContended,
  kWait,
  kPark,
  kRead,
  kWrite,
  kConnect,
  kAccept,
  kOwner,
  kJoin,
  kUnpark,
  kSegment,
  kLock,
  kAllocation,
  kEachAllocation,
  kMetric,
  kNone,  // always recorded, if it occurs
};
inline constexpr size_t kCodeCount = static_cast<size_t>(Code::kNone);

// Matches every minor (interrupts: the level).
inline constexpr uint32_t kAnyMinor = 0;
// Of samples and unwinds, as FIG. 30 has it.
inline constexpr uint32_t kUnwindMinor = 0x7fffffff;

struct EventCode {
  Code code;
  uint32_t major;
  uint32_t minor;  // of the begin; its end is minor + kEnd
  // The ops of a text trace; empty: there is no such record.
  std::string_view begin;
  std::string_view end;
  std::string_view plural;  // for people: "garbage collections"
  bool is_notice;           // written as "op <TAB> args"; changes no tree
  // Of codes=: the name, whether it is on by default, one line of help.
  std::string_view name;
  bool is_on;
  std::string_view what;
};

inline constexpr EventCode kEventCodes[] = {
    {Code::kInterrupt, kInterrupt, kAnyMinor, "interrupt-begin", "interrupt-end", "interrupts",
     true, "interrupt", false, "jtrace's own signal handler"},
    {Code::kNone, kSession, kSessionInitialised, "session-initialised", "",
     "marks of the session's start", true, "", true, ""},
    {Code::kNone, kSession, kSessionLoss, "session-loss", "", "stretches left out", true, "", true,
     ""},
    {Code::kNone, kSession, kSessionMark, "mark", "", "marks", true, "", true, ""},
    {Code::kNamedThread, kThread, kThreadNamed, "thread-start", "thread-end", "threads", true,
     "named", true, "threads with a name that start and end"},
    {Code::kUnnamedThread, kThread, kThreadUnnamed, "thread-start", "thread-end", "threads", true,
     "unnamed", true, "threads without a name that start and end (thread: all)"},
    {Code::kNone, kThread, kThreadIdle, "thread-idle", "thread-end", "idle threads", true, "", true,
     ""},
    {Code::kGcThread, kThread, kThreadGc, "thread-gc", "thread-end", "collector threads", true,
     "gc-thread", true, "threads of the garbage collector"},
    {Code::kThreadSwitch, kThreadSwitch, kSwitch, "on", "off", "thread switches", false, "switch",
     true, "threads on and off: in logs with clock=cpu; +switch: always, by the kernel"},
    {Code::kClass, kClass, kClassLoad, "class-load", "class-unload", "classes loaded", true,
     "class", true, "classes loaded and unloaded"},
    {Code::kClassMethod, kClass, kClassMethod, "class-method", "", "methods of classes", true,
     "method", false, "each method of a class that is loaded: a large trace"},
    {Code::kClassPrepare, kClass, kClassPrepare, "class-prepare", "", "classes prepared", true,
     "prepare", false, "classes that become ready for use"},
    {Code::kClassRedefine, kClass, kClassRedefine, "class-redefine", "", "classes redefined", true,
     "redefine", true, "classes that another agent changes"},
    {Code::kClassUnprobed, kClass, kClassUnprobed, "class-unprobed", "",
     "classes in scope without probes", true, "unprobed", true,
     "classes in scope that have no probes"},
    {Code::kNone, kClass, kClassProbed, "class-probed", "", "classes given probes", true, "", true,
     ""},
    {Code::kInterpreted, kInterpreted, kCall, "enter.i", "exit.i", "interpreted calls", false,
     "interpreted", true, "calls that ran interpreted"},
    {Code::kBoundary, kBoundary, kCall, "enter", "exit", "boundary calls", false, "boundary", false,
     "calls that leave the scope: the same as boundary=on"},
    {Code::kThrown, kException, kThrown, "exception-thrown", "", "exceptions thrown", true,
     "thrown", false, "exceptions thrown in scope, counted by call path (exception: both)"},
    {Code::kCaught, kException, kCaught, "exception-caught", "", "exceptions caught", true,
     "caught", false, "exceptions caught in scope, counted by call path"},
    {Code::kNativeHook, kNativeHook, kHookCalls, "hook", "", "callers of native hooks", false,
     "hook", true, "calls of native functions (hook=)"},
    {Code::kSample, kTimerUnwind, kUnwindMinor, "sample", "", "timer samples", false, "sample",
     true, "timer samples"},
    {Code::kUnwind, kInstrumentedUnwind, kUnwindMinor, "unwind", "", "instrumented unwinds", false,
     "unwind", true, "instrumented unwinds"},
    {Code::kJitted, kJitted, kCall, "enter.j", "exit.j", "compiled calls", false, "jitted", true,
     "calls that ran compiled"},
    {Code::kJitCode, kJit, kJitCode, "jit-load", "jit-unload", "methods compiled", true, "code",
     true, "methods compiled, code freed (jit: all); off with mode=samples"},
    {Code::kJitInlining, kJit, kJitInlining, "jit-inlining", "", "inlining records", true,
     "inlining", true, "what was inlined; off with mode=samples"},
    {Code::kStub, kJit, kJitDynamicCode, "dynamic-code", "dynamic-code-end", "stubs", true, "stub",
     true, "the JVM's own stubs"},
    {Code::kGc, kGc, kGcCycle, "gc-begin", "gc-end", "garbage collections", true, "gc", true,
     "pauses for garbage collection"},
    {Code::kContended, kMonitor, kMonitorContended, "monitor-contended", "monitor-entered",
     "contended monitors", true, "contended", false, "contended monitors (monitor: both)"},
    {Code::kWait, kMonitor, kMonitorWait, "monitor-wait", "monitor-waited", "waits on monitors",
     true, "wait", false, "Object.wait"},
    {Code::kPark, kPark, kParked, "park-begin", "park-end", "parked threads", true, "park", false,
     "LockSupport.park, counted by call path"},
    {Code::kRead, kIo, kIoRead, "read-begin", "read-end", "reads", true, "read", false,
     "reads of files and sockets, with bytes and times (io: all four)"},
    {Code::kWrite, kIo, kIoWrite, "write-begin", "write-end", "writes", true, "write", false,
     "writes"},
    {Code::kConnect, kIo, kIoConnect, "connect-begin", "connect-end", "connects", true, "connect",
     false, "connections made"},
    {Code::kAccept, kIo, kIoAccept, "accept-begin", "accept-end", "accepts", true, "accept", false,
     "connections accepted"},
    {Code::kOwner, kWaited, kWaitedMonitor, "waited-monitor", "", "waits for owners of monitors",
     true, "owner", false, "who had the monitors that threads waited for (waited: all three)"},
    {Code::kJoin, kWaited, kWaitedObject, "waited-object", "", "ended waits", true, "join", false,
     "how Object.wait ended: with Thread.join by which thread"},
    {Code::kUnpark, kWaited, kWaitedPark, "waited-park", "", "ended parks", true, "unpark", false,
     "who unparked parked threads"},
    {Code::kSegment, kSegment, kSegmentPair, "segment-begin", "segment-end", "segments", true,
     "segment", true, "segments of code that the program names (JTrace.segment)"},
    {Code::kLock, kLock, kLockRequest, "lock", "unlock", "locks requested", true, "lock", false,
     "monitors requested and released, calls of java.util.concurrent.locks, by call path"},
    {Code::kAllocation, kAllocation, kAllocationSample, "alloc-sample", "", "allocation samples",
     true, "alloc", false, "a sample of the allocations"},
    {Code::kEachAllocation, kAllocation, kEachAllocation, "alloc", "", "allocations", true,
     "each-alloc", false, "each allocation, with its method and line: costly"},
    {Code::kMetric, kMetric, kMetricEvent, "metric", "", "metric events", false, "metric", true,
     "metrics"},
    {Code::kNone, kReducedTree, kTreeNode, "node", "", "tree nodes", false, "", true, ""},
};

// The row of a code other than kNone.
constexpr const EventCode& RowOf(Code code) {
  size_t i = 0;
  while (kEventCodes[i].code != code) ++i;
  return kEventCodes[i];
}

constexpr bool HasOneRowEach() {
  for (size_t code = 0; code < kCodeCount; ++code) {
    size_t rows = 0;
    for (const EventCode& row : kEventCodes) rows += row.code == static_cast<Code>(code) ? 1 : 0;
    if (rows != 1) return false;
  }
  return true;
}
static_assert(HasOneRowEach());

}  // namespace jtrace::format
