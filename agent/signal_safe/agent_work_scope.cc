#include "agent/signal_safe/agent_work_scope.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "agent/signal_safe/doorbell.h"

namespace jtrace::signal_safe {

constinit thread_local uint32_t tls_agent_work_depth = 0;
constinit thread_local bool tls_is_agent_thread = false;
constinit std::atomic<bool> agent_is_disabled{false};

void DisableAgent() {
  static constexpr char kLine[] =
      "jtrace: recording stopped, the program runs on: no memory; raise ulimit -v, or the memory "
      "of the container\n";
  if (agent_is_disabled.exchange(true)) return;
  syscall(SYS_write, STDERR_FILENO, kLine, sizeof kLine - 1);
  writer_doorbell.Ring();
}

}  // namespace jtrace::signal_safe
