// The handler of the samples' signal: determines whose signal it is.
#pragma once

#include <signal.h>

namespace jtrace::samples {

// The sigaction handler (SA_SIGINFO | SA_RESTART, and SA_ONSTACK unless the previous one is a
// handler without it). A signal of our timers becomes a sample (TakeTimerSample). Any other is
// passed on to the previous handler.
void HandleSampleSignal(int signal, siginfo_t* info, void* context);

}  // namespace jtrace::samples
