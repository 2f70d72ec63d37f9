#include "agent/base/agent_thread.h"

#include <pthread.h>
#include <unistd.h>

#include <utility>

#include "agent/base/signals_blocked.h"
#include "agent/signal_safe/own_work.h"

namespace jtrace {

void AgentThread::Start(std::string name, std::function<void()> run) {
  const SignalsBlocked blocked;
  thread_ = std::thread([this, name = std::move(name), run = std::move(run)] {
    signal_safe::tls_is_agent_thread = true;
    pthread_setname_np(pthread_self(), name.c_str());
    os_tid_.store(gettid());
    os_tid_.notify_all();
    run();
  });
  // The search for threads to sample must know this one.
  os_tid_.wait(0);
}

void AgentThread::Join() {
  thread_.join();
  os_tid_.store(0);
}

}  // namespace jtrace
