#include "agent/base/agent_thread.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "agent/base/signals_blocked.h"
#include "agent/signal_safe/agent_work_scope.h"

namespace jtrace {
namespace {

// Kernel ids of the agent's threads; 0: a free slot. A thread that finds no slot may be sampled.
constinit std::array<std::atomic<pid_t>, 64> agent_tids = {};

void Replace(pid_t before, pid_t after) {
  for (std::atomic<pid_t>& tid : agent_tids) {
    pid_t expected = before;
    if (tid.compare_exchange_strong(expected, after)) return;
  }
}

}  // namespace

bool IsAgentThread(pid_t tid) {
  return tid != 0 && std::ranges::any_of(agent_tids, [tid](const std::atomic<pid_t>& agent_tid) {
           return agent_tid.load(std::memory_order_relaxed) == tid;
         });
}

void AgentThread::Start(std::string name, std::function<void()> run) {
  const ProgramSignalsBlocked blocked;
  thread_ = std::thread([this, name = std::move(name), run = std::move(run)] {
    signal_safe::tls_is_agent_thread = true;
    pthread_setname_np(pthread_self(), name.c_str());
    Replace(0, gettid());
    os_tid_.store(gettid());
    os_tid_.notify_all();
    run();
    Replace(gettid(), 0);
  });
  // The sampler lists the threads of the process, and must find this one's id in agent_tids.
  os_tid_.wait(0);
}

void AgentThread::Join() {
  thread_.join();
  os_tid_.store(0);
}

}  // namespace jtrace
