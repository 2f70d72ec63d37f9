// Signals that are not ours go to who handled them before.
#ifndef JTRACE_AGENT_HOT_FORWARD_SIGNAL_H_
#define JTRACE_AGENT_HOT_FORWARD_SIGNAL_H_

#include <signal.h>

namespace jtrace::hot {

// Calls the handler of previous_actions[signal], or does what would have happened without ours.
// Inside a handler of `signal`; such a handler may block, or never come back.
void ForwardSignal(int signal, siginfo_t* info, void* context);

// If the action is a handler. False: it is none.
bool CallHandler(const struct sigaction& action, int signal, siginfo_t* info, void* context);
// Its first half. False: there was no handler.
bool ForwardToHandler(int signal, siginfo_t* info, void* context);
// Its second half: the program ends by the signal, as it would have. `action`: the default.
void EndBy(const struct sigaction& action, int signal);

}  // namespace jtrace::hot

#endif  // JTRACE_AGENT_HOT_FORWARD_SIGNAL_H_
