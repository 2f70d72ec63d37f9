// Loops that threads stand in while the code of their classes is swapped.
//
// HotSpot never compiles a method's old version (its dependency check refuses methods that were
// redefined, Dependencies::check_evol_method): an activation that stands in one goes on interpreted
// until it returns. Methods that come and go are compiled anew; a loop may take for ever.
#pragma once

#include <jvmti.h>

#include <span>
#include <string>
#include <vector>

namespace jtrace::jvmti {

// The methods ("pkg.Class.method") of `classes` that running threads stand in a loop of; each once,
// by name. Threads that wait or are in native code are left out: what little they run is not felt.
// A safepoint for the stacks. Any Java thread.
std::vector<std::string> FindRunningLoops(jvmtiEnv* env, JNIEnv* jni,
                                          std::span<const jclass> classes);

}  // namespace jtrace::jvmti
