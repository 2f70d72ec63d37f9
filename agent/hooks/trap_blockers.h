// Threads that make int3 a danger for the process: if a thread that blocks SIGTRAP hits one, the
// kernel ends the thread and the process.
#pragma once

#include <string>
#include <vector>

namespace jtrace::hooks {

// The threads that block SIGTRAP for more than a moment, and the program's signal handlers that
// block it while they run, for people: "thread 'deaf'", "the handler of SIGUSR1 in libx.so".
// jtrace's own call nothing that may be hooked. Any thread; reads /proc.
std::vector<std::string> WhatBlocksTraps();

}  // namespace jtrace::hooks
