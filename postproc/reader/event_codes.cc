#include "postproc/reader/event_codes.h"

#include "absl/strings/str_format.h"
#include "proto/trace_format.h"

namespace jtrace::postproc {
namespace {

constexpr uint32_t kUnwind = 0x7fffffff;

constexpr EventCode kCodes[] = {
    {format::kInterrupt, EventCode::kAnyMinor, "interrupt-begin", "interrupt-end", "interrupts",
     true},
    {format::kSession, format::kSessionInitialised, "session-initialised", "",
     "marks of the session's start", true},
    {format::kSession, format::kSessionLoss, "session-loss", "", "stretches left out", true},
    {format::kSession, format::kSessionMark, "mark", "", "marks", true},
    {format::kThread, format::kThreadNamed, "thread-start", "thread-end", "threads", true},
    {format::kThread, format::kThreadUnnamed, "thread-start", "thread-end", "threads", true},
    {format::kThread, format::kThreadIdle, "thread-idle", "thread-end", "idle threads", true},
    {format::kThread, format::kThreadGc, "thread-gc", "thread-end", "collector threads", true},
    {format::kThreadSwitch, format::kSwitch, "on", "off", "thread switches", false},
    {format::kClass, format::kClassLoad, "class-load", "class-unload", "classes loaded", true},
    {format::kClass, format::kClassMethod, "class-method", "", "methods of classes", true},
    {format::kClass, format::kClassPrepare, "class-prepare", "", "classes prepared", true},
    {format::kClass, format::kClassRedefine, "class-redefine", "", "classes redefined", true},
    {format::kClass, format::kClassUnprobed, "class-unprobed", "",
     "classes in scope without probes", true},
    {format::kClass, format::kClassProbed, "class-probed", "", "classes given probes", true},
    {format::kInterpreted, format::kCall, "enter.i", "exit.i", "interpreted calls", false},
    {format::kBoundary, format::kCall, "enter", "exit", "boundary calls", false},
    {format::kException, format::kThrown, "exception-thrown", "", "exceptions thrown", true},
    {format::kException, format::kCaught, "exception-caught", "", "exceptions caught", true},
    {format::kNativeHook, format::kHookCalls, "hook", "", "callers of native hooks", false},
    {format::kTimerUnwind, kUnwind, "sample", "", "timer samples", false},
    {format::kInstrumentedUnwind, kUnwind, "unwind", "", "instrumented unwinds", false},
    {format::kJitted, format::kCall, "enter.j", "exit.j", "compiled calls", false},
    {format::kJit, format::kJitCode, "jit-load", "jit-unload", "methods compiled", true},
    {format::kJit, format::kJitInlining, "jit-inlining", "", "inlining records", true},
    {format::kJit, format::kJitDynamicCode, "dynamic-code", "dynamic-code-end", "stubs", true},
    {format::kGc, format::kGcCycle, "gc-begin", "gc-end", "garbage collections", true},
    {format::kMonitor, format::kMonitorContended, "monitor-contended", "monitor-entered",
     "contended monitors", true},
    {format::kMonitor, format::kMonitorWait, "monitor-wait", "monitor-waited", "waits on monitors",
     true},
    {format::kPark, format::kParked, "park-begin", "park-end", "parked threads", true},
    {format::kIo, format::kIoRead, "read-begin", "read-end", "reads", true},
    {format::kIo, format::kIoWrite, "write-begin", "write-end", "writes", true},
    {format::kIo, format::kIoConnect, "connect-begin", "connect-end", "connects", true},
    {format::kIo, format::kIoAccept, "accept-begin", "accept-end", "accepts", true},
    {format::kWaited, format::kWaitedMonitor, "waited-monitor", "", "waits for owners of monitors",
     true},
    {format::kWaited, format::kWaitedObject, "waited-object", "", "ended waits", true},
    {format::kWaited, format::kWaitedPark, "waited-park", "", "ended parks", true},
    {format::kSegment, format::kSegmentPair, "segment-begin", "segment-end", "segments", true},
    {format::kAllocation, format::kAllocationSample, "alloc-sample", "", "allocation samples",
     true},
    {format::kMetric, format::kMetricEvent, "metric", "", "metric events", false},
    {format::kReducedTree, format::kTreeNode, "node", "", "tree nodes", false},
};

}  // namespace

absl::Span<const EventCode> AllEventCodes() { return kCodes; }

const EventCode* FindEventCode(uint32_t major, uint32_t minor) {
  for (const EventCode& code : kCodes) {
    if (code.major != major) continue;
    if (code.minor == EventCode::kAnyMinor || code.minor == (minor & ~format::kEnd)) return &code;
  }
  return nullptr;
}

const EventCode* FindEventCodeByOp(std::string_view op) {
  if (op.empty()) return nullptr;
  for (const EventCode& code : kCodes) {
    if (code.begin == op || code.end == op) return &code;
  }
  return nullptr;
}

std::string_view NoticeOp(uint32_t major, uint32_t minor) {
  const EventCode* code = FindEventCode(major, minor);
  if (code == nullptr || !code->is_notice) return {};
  return (minor & format::kEnd) != 0 ? code->end : code->begin;
}

std::string CodeText(uint32_t major, uint32_t minor) {
  if (minor == kUnwind) return absl::StrFormat("0x%x", major);  // samples have no minor
  return absl::StrFormat("0x%x/0x%x", major, minor);
}

}  // namespace jtrace::postproc
