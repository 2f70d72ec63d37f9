#include "agent/signal_safe/previous_actions.h"

namespace jtrace::signal_safe {

constinit std::atomic<const struct sigaction*> previous_actions[kSignals];
constinit std::atomic<Sigaction> kernel_sigaction{&sigaction};

// Whatever sa_flags say: sa_handler and sa_sigaction are the same word.
bool IsHandler(const struct sigaction& action) {
  return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

bool CallHandler(const struct sigaction& action, int signal, siginfo_t* info, void* context) {
  if (!IsHandler(action)) return false;
  if ((action.sa_flags & SA_SIGINFO) != 0) {
    action.sa_sigaction(signal, info, context);
  } else {
    action.sa_handler(signal);
  }
  return true;
}

void RaiseDefaultAction(const struct sigaction& action, int signal) {
  kernel_sigaction.load()(signal, &action, nullptr);
  raise(signal);
}

void ForwardSignal(int signal, siginfo_t* info, void* context) {
  const struct sigaction* const previous = previous_actions[signal].load();
  if (previous == nullptr || CallHandler(*previous, signal, info, context)) return;
  // The signal was sent on purpose (kill, tgkill). It is blocked here, so that the one that
  // RaiseDefaultAction raises is delivered when the handler returns. SIGURG and SIGWINCH do nothing
  // by default.
  if (previous->sa_handler == SIG_DFL && info->si_code <= 0 && info->si_code != SI_TIMER &&
      signal != SIGURG && signal != SIGWINCH) {
    RaiseDefaultAction(*previous, signal);
  }
}

}  // namespace jtrace::signal_safe
