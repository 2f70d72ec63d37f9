#include "postproc/reader/event_codes.h"

#include "proto/trace_format.h"

namespace jtrace::postproc {
namespace {

constexpr uint32_t kAnyMinor = 0;

struct EventCode {
  uint32_t major;
  uint32_t minor;  // of the begin; kAnyMinor: an interrupt level
  std::string_view begin;
  std::string_view end;
};

// proto/FORMAT.md has the same table in words.
constexpr EventCode kCodes[] = {
    {format::kInterrupt, kAnyMinor, "interrupt-begin", "interrupt-end"},
    {format::kSession, format::kSessionInitialised, "session-initialised", ""},
    {format::kSession, format::kSessionLoss, "session-loss", ""},
    {format::kSession, format::kSessionMark, "mark", ""},
    {format::kThread, format::kThreadUnnamed, "thread-start", "thread-end"},
    {format::kThread, format::kThreadIdle, "thread-idle", "thread-end"},
    {format::kThread, format::kThreadGc, "thread-gc", "thread-end"},
    {format::kThread, format::kThreadNamed, "thread-start", "thread-end"},
    {format::kClass, format::kClassLoad, "class-load", "class-unload"},
    {format::kClass, format::kClassMethod, "class-method", ""},
    {format::kClass, 0x3, "class-prepare", ""},
    {format::kClass, 0x4, "class-redefine", ""},
    {format::kException, 0x1, "exception-thrown", ""},
    {format::kException, 0x2, "exception-caught", ""},
    {format::kJit, format::kJitCode, "jit-load", "jit-unload"},
    {format::kJit, format::kJitInlining, "jit-inlining", ""},
    {format::kJit, format::kJitDynamicCode, "dynamic-code", "dynamic-code-end"},
    {format::kGc, format::kGcCycle, "gc-begin", "gc-end"},
    {format::kMonitor, 0x1, "monitor-contended", "monitor-entered"},
    {format::kMonitor, 0x2, "monitor-wait", "monitor-waited"},
    {format::kPark, 0x1, "park-begin", "park-end"},
    {format::kAllocation, 0x1, "alloc-sample", ""},
};

}  // namespace

std::string_view EventOp(uint32_t major, uint32_t minor) {
  const bool is_end = (minor & format::kEnd) != 0;
  for (const EventCode& code : kCodes) {
    if (code.major != major) continue;
    if (code.minor != kAnyMinor && code.minor != (minor & ~format::kEnd)) continue;
    return is_end ? code.end : code.begin;
  }
  return {};
}

}  // namespace jtrace::postproc
