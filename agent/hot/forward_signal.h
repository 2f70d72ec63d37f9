// Signals that are not ours go to who handled them before.
#ifndef JTRACE_AGENT_HOT_FORWARD_SIGNAL_H_
#define JTRACE_AGENT_HOT_FORWARD_SIGNAL_H_

#include <signal.h>

namespace jtrace::hot {

// Calls the handler of previous_actions[signal], or does what would have happened without ours.
// Inside a handler of `signal`; such a handler may block, or never come back.
void ForwardSignal(int signal, siginfo_t* info, void* context);
// The same for SIGTRAP, which ends a program that does not handle it.
void ForwardTrap(int signal, siginfo_t* info, void* context);

}  // namespace jtrace::hot

#endif  // JTRACE_AGENT_HOT_FORWARD_SIGNAL_H_
