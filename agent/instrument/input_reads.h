// The classes of the JDK in which reads of the user's input end up, whatever wraps it:
// FileInputStream and the dispatchers of file channels. With boundary=costs they get probes around
// their native reads, out of scope as they are; the probe decides by the descriptor (S4.2). Any
// thread.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "agent/classfile/probe_spec.h"
#include "agent/classfile/site.h"
#include "common/scope_filter.h"

namespace jtrace {

bool ReadsDescriptors(std::string_view internal_name);

// Whether a call reads from a descriptor, which may be that of the user's input.
bool IsInput(const classfile::SiteRef& callee);

// The methods of these classes.
absl::StatusOr<classfile::ScopeFilter> InputFilter();

// The probes around their native reads; `spec`: those of classes in scope.
classfile::ProbeSpec InputSpec(classfile::ProbeSpec spec, std::string_view internal_name);

}  // namespace jtrace
