// A step of a path in a call tree: which routine runs, and from where it was called.
#pragma once

#include <string>

#include "common/call_site.h"
#include "postproc/model/ids.h"

namespace jtrace::postproc {

// Converts to and from a routine without a place, as most traces have them.
struct PathStep {
  RoutineId routine;
  CallSite place = kNoCallSite;  // in the step above; none: unknown

  PathStep() = default;
  // NOLINTNEXTLINE(google-explicit-constructor)
  PathStep(RoutineId called, CallSite from = kNoCallSite) : routine(called), place(from) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  operator RoutineId() const { return routine; }
  friend bool operator==(const PathStep&, const PathStep&) = default;
  friend bool operator==(const PathStep& step, RoutineId routine) {
    return step.routine == routine;
  }
};

// ":120" for a line, "@17" for a bytecode index, "" if unknown: follows the caller's name.
std::string PlaceText(CallSite place);

}  // namespace jtrace::postproc
