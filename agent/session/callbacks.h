// JVMTI's callbacks: unpack, find the session, forward. Nothing else happens here.
#pragma once

#include "agent/jvmti/env.h"

namespace jtrace {

class JvmSession;

// Installs the table; events are still off. The session must live as long as the environment.
absl::Status InstallCallbacks(jvmtiEnv* env, JvmSession* session);

}  // namespace jtrace
