// Whether a JVM lets agents attach, as it says itself.
#pragma once

#include <optional>
#include <string_view>

#include "postproc/cli/jvm_process.h"

namespace jtrace::control {

// What a JVM's performance data (the file hsperfdata_USER/PID) says: the first character of
// "sun.rt.jvmCapabilities" is 1 where the attach mechanism is on. Nothing if it is not there.
std::optional<bool> AttachIsOn(std::string_view performance_data);

// Whether the JVM runs with -XX:+DisableAttachMechanism. The signal that asks it to attach would
// make it print its threads on the program's stdout. False if it does not tell (-XX:-UsePerfData).
bool RefusesAttach(const JvmProcess& jvm);

}  // namespace jtrace::control
