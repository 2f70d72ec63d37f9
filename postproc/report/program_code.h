// Which routines are the program's own, and which are jtrace's.
#pragma once

#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "postproc/report/report.h"

namespace jtrace::postproc {

// A letter by routine (RoutineId.value): the most frequent kind of its sampled frames, J C I N V K;
// E for a method that only events saw, c and n for a call or native call out of the scope, x for an
// exception, p for a park or a monitor, m for a marker such as [unmatched].
std::vector<char> FrameKinds(const ReportInput& input);

class ProgramCode {
 public:
  // `input` outlives it.
  explicit ProgramCode(const ReportInput& input);

  // A method in scope or, if the trace names no scope, Java code that is not the JDK's.
  bool IsProgram(RoutineId routine) const;
  // "[jtrace probe]": the probes' own time.
  bool IsProbe(RoutineId routine) const { return routine && routine == probe_; }
  // A function of the agent's library.
  bool IsAgent(RoutineId routine) const;
  // As FrameKinds.
  char KindOf(RoutineId routine) const { return kinds_[routine.value]; }
  // The module of a native function; "": none.
  std::string_view ModuleOf(RoutineId routine) const;

 private:
  const TraceModel& model_;
  const std::vector<char> kinds_;
  const RoutineId probe_;
  absl::flat_hash_map<RoutineId, ModuleId> modules_;
};

// "com.acme.shop" of "com.acme.shop.cart.Cart.add(int)": three packages distinguish libraries.
std::string LibraryOf(std::string_view routine);

}  // namespace jtrace::postproc
