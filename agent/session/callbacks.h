// JVMTI's call-backs: unpack, find the session, forward. Nothing else happens here.
#pragma once

#include "agent/jvmti/env.h"

namespace jtrace {
class Session;
}

namespace jtrace::jvmti {

// Installs the table; events are still off. The session must live as long as the environment.
absl::Status InstallCallbacks(jvmtiEnv* env, Session* session);

}  // namespace jtrace::jvmti
