// What makes int3 a danger for the process: a thread that meets one with SIGTRAP blocked is ended
// by the kernel, and the process with it.
#pragma once

#include <string>
#include <vector>

namespace jtrace::hooks {

// The threads that block SIGTRAP for more than a moment, and the program's signal handlers that
// block it while they run, for people: "thread 'deaf'", "the handler of SIGUSR1 in libx.so".
// jtrace's own call nothing that may be hooked. Any thread; reads /proc.
std::vector<std::string> WhatBlocksTraps();

}  // namespace jtrace::hooks
