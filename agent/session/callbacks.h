// JVMTI's callbacks, which unpack the arguments and pass them to the session.
#pragma once

#include <jvmti.h>

#include "absl/status/status.h"

namespace jtrace {

class JvmSession;

// Installs the callbacks; enables no events. The session must live as long as the environment.
absl::Status InstallCallbacks(jvmtiEnv* env, JvmSession* session);

}  // namespace jtrace
