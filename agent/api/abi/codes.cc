#include "agent/api/abi/codes.h"

#include "agent/api/c/jtrace.h"

namespace jtrace::abi {
namespace {

using absl::StatusCode;
using metrics::Availability;

// Indexed by the negated code. The static_assert below finds a missing comma.
// NOLINTBEGIN(bugprone-suspicious-missing-comma)
constexpr const char* kTexts[] = {
    "no error",
    "the jtrace agent is loaded but has not begun",
    "the JVM is ending: jtrace accepts no more calls",
    "an argument is wrong: a null pointer, a number out of range, or a struct_size that was not "
    "set",
    "no metric has this name or number; metric_ids lists those that exist",
    "this metric is not counted: begin a recording with metrics=NAME",
    "this version, JVM or kernel does not report this metric, or not for virtual threads",
    "this metric is not available per thread: read it for the process or for methods",
    "reading this metric opens a file: call totals() outside of signal handlers",
    "this thread is not known yet, has not started or has ended; thread_attach registers the "
    "calling one",
    "this cannot name a counter: use letters, digits, '.', '_' and '-', 64 at most",
    "no counter or reader is left, or there are too many call paths",
    "the counter of this name counts the other way, by thread or by processor: use another name",
    "the pattern names no method: write com.acme.Cache::load or java.sql.*::execute*",
    "no recording runs, one runs already, or it keeps no call trees: begin one with record=tree",
    "this reader, window or segment is not open",
    "the command failed; the sink received the reason",
    "no memory",
    "an internal error of jtrace",
};
// NOLINTEND(bugprone-suspicious-missing-comma)
constexpr int32_t kCodes = sizeof(kTexts) / sizeof(kTexts[0]);
static_assert(kCodes == 1 - JTRACE_E_INTERNAL);

}  // namespace

const char* ErrorText(int32_t code) {
  return code <= 0 && code > -kCodes ? kTexts[-code] : "this is not a code of jtrace";
}

int32_t Code(Availability availability) {
  switch (availability) {
    case Availability::kYes:
      return JTRACE_OK;
    case Availability::kNoMetric:
      return JTRACE_E_METRIC;
    case Availability::kNotCounted:
      return JTRACE_E_NOT_COUNTED;
    case Availability::kUnsupported:
    case Availability::kVirtualThread:
      return JTRACE_E_UNSUPPORTED;
    case Availability::kProcessOnly:
    case Availability::kTreesOnly:
      return JTRACE_E_REACH;
    case Availability::kNotInHandlers:
      return JTRACE_E_HANDLER;
    case Availability::kUnknownThread:
      return JTRACE_E_THREAD;
  }
  return JTRACE_E_INTERNAL;
}

int32_t ThreadCode(const absl::Status& status) {
  switch (status.code()) {
    case StatusCode::kOk:
      return JTRACE_OK;
    case StatusCode::kNotFound:
      return JTRACE_E_THREAD;
    case StatusCode::kUnavailable:
      return JTRACE_E_UNSUPPORTED;
    case StatusCode::kResourceExhausted:
      return JTRACE_E_MEMORY;
    default:
      return JTRACE_E_INTERNAL;
  }
}

int32_t MethodCode(const absl::Status& status, int32_t not_found) {
  switch (status.code()) {
    case StatusCode::kOk:
      return JTRACE_OK;
    case StatusCode::kNotFound:
      return not_found;
    case StatusCode::kInvalidArgument:
      return JTRACE_E_PATTERN;
    case StatusCode::kFailedPrecondition:
      return JTRACE_E_STATE;
    case StatusCode::kOutOfRange:
      return JTRACE_E_NOT_COUNTED;
    case StatusCode::kResourceExhausted:
      return JTRACE_E_FULL;
    default:
      return JTRACE_E_INTERNAL;
  }
}

int32_t CommandCode(const absl::Status& status) {
  switch (status.code()) {
    case StatusCode::kOk:
      return JTRACE_OK;
    case StatusCode::kInvalidArgument:
      return JTRACE_E_ARGUMENT;
    case StatusCode::kFailedPrecondition:
      return JTRACE_E_STATE;
    default:
      return JTRACE_E_FAILED;
  }
}

int32_t CounterCode(const absl::Status& status) {
  switch (status.code()) {
    case StatusCode::kOk:
      return JTRACE_OK;
    case StatusCode::kInvalidArgument:
      return JTRACE_E_NAME;
    case StatusCode::kFailedPrecondition:
      return JTRACE_E_KIND;
    case StatusCode::kResourceExhausted:
      return JTRACE_E_FULL;
    default:
      return JTRACE_E_INTERNAL;
  }
}

}  // namespace jtrace::abi
