// Which methods of the instrumented scope ran (S4.6).
#pragma once

#include <string_view>
#include <vector>

#include "postproc/report/report.h"

namespace jtrace::postproc {

// "pkg.Outer$Inner" of "pkg.Outer$Inner.method(int)"; "" of a name without a class.
std::string_view ClassOf(std::string_view routine);

// A method ran if events counted it or samples saw it. Traces list at their end which methods had
// probes; for a trace that was cut off only those that ran are known.
class ScopeCoverage {
 public:
  struct Method {
    std::string_view name;
    bool executed = false;
    bool never_loaded = false;  // its class
  };

  explicit ScopeCoverage(const ReportInput& input);

  // By class, then name.
  const std::vector<Method>& methods() const { return methods_; }
  int64_t executed() const { return executed_; }
  int64_t never_loaded() const { return never_loaded_; }
  // A method: in the scope, or named by a sample as Java code.
  bool IsJava(RoutineId routine) const {
    return routine.value < is_java_.size() && is_java_[routine.value];
  }

 private:
  std::vector<Method> methods_;
  std::vector<bool> is_java_;  // by routine
  int64_t executed_ = 0;
  int64_t never_loaded_ = 0;
};

}  // namespace jtrace::postproc
