// Whether a JVM lets agents attach, according to the JVM itself.
#pragma once

#include <optional>
#include <string_view>

#include "postproc/cli/jvm_process.h"

namespace jtrace::control {

// From a JVM's performance data (the file hsperfdata_USER/PID): the first character of
// "sun.rt.jvmCapabilities" is 1 if the attach mechanism is on. None if the entry is missing.
std::optional<bool> AttachIsOn(std::string_view performance_data);

// Whether the JVM runs with -XX:+DisableAttachMechanism. The signal that requests the attach would
// make it print its threads on the program's stdout. False if it does not say (-XX:-UsePerfData).
bool RefusesAttach(const JvmProcess& jvm);

}  // namespace jtrace::control
