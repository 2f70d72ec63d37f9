#include "agent/base/worker_thread.h"

#include "agent/signal_safe/agent_work_scope.h"

namespace jtrace {

WorkerThread::~WorkerThread() {
  if (!thread_.IsRunning()) return;
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.Join();
}

void WorkerThread::Begin(std::function<void()> work) {
  {
    std::lock_guard lock(mutex_);
    work_ = std::move(work);
  }
  changed_.notify_all();
  if (thread_.IsRunning()) return;
  try {
    thread_.Start(name_, [this] { Run(); });
  } catch (...) {
    std::lock_guard lock(mutex_);
    work_ = nullptr;  // no thread would do it, and Wait would not return
    throw;
  }
}

void WorkerThread::Wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return work_ == nullptr; });
}

void WorkerThread::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return work_ != nullptr || ending_; });
    if (work_ == nullptr) return;
    lock.unlock();
    signal_safe::RunAsAgent([this] { work_(); });
    lock.lock();
    work_ = nullptr;
    changed_.notify_all();
  }
}

}  // namespace jtrace
