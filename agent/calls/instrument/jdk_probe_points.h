// Classes of the JDK that get probes at a few calls although they are out of scope: where threads
// park (codes=+park), and where reads of the user's input end up (boundary=costs, S4.2).
#pragma once

#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "agent/calls/classfile/probe_point.h"
#include "agent/calls/classfile/probe_spec.h"
#include "agent/options/options.h"
#include "common/scope_filter.h"

namespace jtrace::calls {

class RoutineTargets;

// The methods of the JDK that request and release locks (codes=+lock): they are in scope, whoever
// calls them, so the program's own locks and the JDK's queues are counted by their call paths.
extern const char kLockMethods[];

// Any thread.
class JdkProbePoints {
 public:
  static absl::StatusOr<JdkProbePoints> Create(const Options& options);

  // Whether parks are recorded and this is LockSupport, through which java.util.concurrent parks.
  bool IsParkClass(std::string_view internal_name) const;
  // Whether input is found and this is FileInputStream or a dispatcher of file channels, where all
  // reads of the standard input end up. The probe decides by the file descriptor.
  bool IsInputClass(std::string_view internal_name) const;
  bool Contains(std::string_view internal_name) const {
    return IsParkClass(internal_name) || IsInputClass(internal_name);
  }

  // Returns the filter under which the class is rewritten.
  const classfile::ScopeFilter& FilterOf(std::string_view internal_name) const {
    return IsInputClass(internal_name) ? input_filter_ : park_filter_;
  }
  // Limits the probes of a class out of scope to these calls; any other class gets no probe points.
  void Limit(std::string_view internal_name, classfile::ProbeSpec& spec,
             RoutineTargets& targets) const;
  // Adds the probes of parks to a class in scope whose calls out of scope get none (boundary= off).
  void AddParks(std::string_view internal_name, classfile::ProbeSpec& spec,
                RoutineTargets& targets) const;

 private:
  JdkProbePoints(classfile::ScopeFilter park_filter, classfile::ScopeFilter input_filter)
      : park_filter_(std::move(park_filter)), input_filter_(std::move(input_filter)) {}

  classfile::ScopeFilter park_filter_;
  classfile::ScopeFilter input_filter_;
  bool parks_ = false;
  bool finds_input_ = false;
};

// Whether a call makes its thread release the processor until another lets it continue.
bool IsPark(const classfile::ProbeTarget& callee);
// Whether a call reads from a descriptor, which may be that of the user's input.
bool IsInput(const classfile::ProbeTarget& callee);

}  // namespace jtrace::calls
