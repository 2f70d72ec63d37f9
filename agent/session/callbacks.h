// JVMTI's callbacks: they unpack the arguments and find the session.
#pragma once

#include <jvmti.h>

#include "absl/status/status.h"

namespace jtrace {

class JvmSession;

// Installs the table; events are still off. The session must live as long as the environment.
absl::Status InstallCallbacks(jvmtiEnv* env, JvmSession* session);

}  // namespace jtrace
