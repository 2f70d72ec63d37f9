#include "agent/sources/lasting_thread.h"

#include <pthread.h>
#include <unistd.h>

#include <utility>

#include "agent/base/signals_blocked.h"
#include "agent/hot/own_work.h"

namespace jtrace::trace {

LastingThread::~LastingThread() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void LastingThread::Begin(std::function<void()> work) {
  {
    std::lock_guard lock(mutex_);
    work_ = std::move(work);
  }
  changed_.notify_all();
  if (thread_.joinable()) return;
  const SignalsBlocked blocked;
  try {
    thread_ = std::thread([this] { Run(); });
  } catch (...) {
    std::lock_guard lock(mutex_);
    work_ = nullptr;  // no thread would do it, and Wait would not return
    throw;
  }
}

void LastingThread::Wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return work_ == nullptr; });
}

void LastingThread::Run() {
  hot::tls_is_agent_thread = true;
  pthread_setname_np(pthread_self(), name_.c_str());
  os_tid_.store(gettid(), std::memory_order_relaxed);
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return work_ != nullptr || ending_; });
    if (work_ == nullptr) return;
    lock.unlock();
    hot::AsOwn([this] { work_(); });
    lock.lock();
    work_ = nullptr;
    changed_.notify_all();
  }
}

}  // namespace jtrace::trace
