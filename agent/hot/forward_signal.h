// Signals that are not ours go to who handled them before.
#ifndef JTRACE_AGENT_HOT_FORWARD_SIGNAL_H_
#define JTRACE_AGENT_HOT_FORWARD_SIGNAL_H_

#include <signal.h>

namespace jtrace::hot {

// Calls the handler of previous_actions[signal], or does what would have happened without ours.
// Inside a handler of `signal`; such a handler may block, or never come back.
void ForwardSignal(int signal, siginfo_t* info, void* context);

// Whether it is one, and neither the default nor to ignore.
bool IsHandler(const struct sigaction& action);
// If the action is a handler. False: it is none.
bool CallHandler(const struct sigaction& action, int signal, siginfo_t* info, void* context);
// The program ends by the signal, as it would have. `action`: the default.
void EndBy(const struct sigaction& action, int signal);

}  // namespace jtrace::hot

#endif  // JTRACE_AGENT_HOT_FORWARD_SIGNAL_H_
