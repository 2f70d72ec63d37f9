// Loops that threads are in while the code of their classes is swapped.
//
// HotSpot never compiles a method's old version (its dependency check refuses methods that were
// redefined, Dependencies::check_evol_method): an activation of an old version stays interpreted
// until it returns. New calls are compiled again; a loop may run forever.
#pragma once

#include <jvmti.h>

#include <span>
#include <string>
#include <vector>

namespace jtrace::jvmti {

// The methods ("pkg.Class.method") of `classes` in which running threads are in a loop; each once,
// by name. Threads that wait or are in native code are left out: the little that they run does not
// matter. Takes one safepoint for the stacks. Any Java thread.
std::vector<std::string> FindRunningLoops(jvmtiEnv* env, JNIEnv* jni,
                                          std::span<const jclass> classes);

}  // namespace jtrace::jvmti
