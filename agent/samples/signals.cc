#include "agent/samples/signals.h"

#include <errno.h>
#include <signal.h>

#include <atomic>

#include "agent/samples/handler/sample_signal.h"
#include "agent/signal_safe/previous_actions.h"
#include "agent/signal_safe/safe_read.h"

namespace jtrace::samples {
namespace {

// Written before the handler is installed.
struct sigaction previous_segv;
struct sigaction previous_bus;

void HandleFault(int signal, siginfo_t* info, void* context) {
  if (signal_safe::RecoverSafeRead(context)) return;
  const struct sigaction& previous = signal == SIGSEGV ? previous_segv : previous_bus;
  if ((previous.sa_flags & SA_SIGINFO) != 0) {
    previous.sa_sigaction(signal, info, context);
  } else if (previous.sa_handler == SIG_DFL || previous.sa_handler == SIG_IGN) {
    sigaction(signal, &previous, nullptr);  // the instruction faults again
  } else {
    previous.sa_handler(signal);
  }
}

absl::Status InstallFaultHandlerFor(int signal, struct sigaction* previous) {
  struct sigaction current;
  if (sigaction(signal, nullptr, &current) != 0) return absl::ErrnoToStatus(errno, "sigaction");
  // It is installed already, by an earlier recording, and must not forward faults to itself.
  if (current.sa_sigaction == HandleFault) return absl::OkStatus();
  *previous = current;
  struct sigaction action = current;
  action.sa_sigaction = HandleFault;
  action.sa_flags |= SA_SIGINFO | SA_ONSTACK;
  if (sigaction(signal, &action, nullptr) != 0) return absl::ErrnoToStatus(errno, "sigaction");
  return absl::OkStatus();
}

bool IsOurs(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == HandleSampleSignal;
}

// The signal of BlockWhileSampling; 0: none.
std::atomic<int> blocked_while_sampling{0};

absl::Status InstallFor(int signal, int stack) {
  struct sigaction action {};
  action.sa_sigaction = HandleSampleSignal;
  action.sa_flags = SA_SIGINFO | SA_RESTART | stack;
  if (const int other = blocked_while_sampling.load(); other != 0) {
    sigaddset(&action.sa_mask, other);
  }
  if (sigaction(signal, &action, nullptr) != 0) return absl::ErrnoToStatus(errno, "sigaction");
  return absl::OkStatus();
}

}  // namespace

bool IsSampleHandler(int signal) {
  struct sigaction current;
  return sigaction(signal, nullptr, &current) == 0 && IsOurs(current);
}

absl::Status InstallSampleHandler(int signal, SampleHandlerConfig* config) {
  struct sigaction current;
  if (sigaction(signal, nullptr, &current) != 0) return absl::ErrnoToStatus(errno, "sigaction");
  sample_handler_config.store(config);
  if (IsOurs(current)) return absl::OkStatus();
  // Never freed: handlers may be using an action that was published here before.
  signal_safe::previous_actions[signal].store(new struct sigaction(current));
  // On the alternate stack where a thread has one: Go's threads have small stacks. A handler of the
  // program's, which gets its signals from ours, stays on the stack that it asked for.
  const int stack = signal_safe::IsHandler(current) ? current.sa_flags & SA_ONSTACK : SA_ONSTACK;
  return InstallFor(signal, stack);
}

void BlockWhileSampling(int signal) {
  blocked_while_sampling.store(signal);
  for (int installed = 1; installed < signal_safe::kSignals; ++installed) {
    struct sigaction current;
    if (sigaction(installed, nullptr, &current) != 0 || !IsOurs(current)) continue;
    InstallFor(installed, current.sa_flags & SA_ONSTACK).IgnoreError();
  }
}

void DeactivateSampleHandler() {
  const SampleHandlerConfig* const config = sample_handler_config.load();
  if (config == nullptr || !config->active) return;
  auto* const stopped = new SampleHandlerConfig(*config);  // handlers may keep using it
  stopped->active = false;
  stopped->vm = nullptr;
  sample_handler_config.store(stopped);
}

absl::Status InstallFaultHandler() {
  const absl::Status status = InstallFaultHandlerFor(SIGSEGV, &previous_segv);
  return status.ok() ? InstallFaultHandlerFor(SIGBUS, &previous_bus) : status;
}

}  // namespace jtrace::samples
