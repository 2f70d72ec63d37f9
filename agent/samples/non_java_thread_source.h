// Finds threads that run no Java code and samples them, too. Writer thread, unless noted.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>

#include "agent/base/losses.h"
#include "agent/base/thread_name_filter.h"
#include "agent/jvm/thread_registry.h"
#include "agent/trace/chunk_source.h"

namespace jtrace::samples {

class Sampler;

// Attaches these threads as they appear: threads of the JVM, threads of native code, and threads
// that left the JVM (JNI DetachCurrentThread). The agent's own threads are never attached.
//
// Checks ten times a second, less often if checks would take more than a hundredth of a processor.
// A thread is attached when two checks in a row find it without a Java thread, because a starting
// Java thread reports itself before it runs any Java code. A thread that has reported its end
// mostly exits soon, unless the machine is busy. It is attached only if it uses CPU time
// afterwards.
class NonJavaThreadSource : public trace::ChunkSource {
 public:
  NonJavaThreadSource(jvm::ThreadRegistry& threads, Sampler& sampler, const ThreadNameFilter& names,
                      std::function<bool(pid_t)> is_agent_thread, Losses& losses);
  // Attaches all such threads that run now. Called before the writer starts, when every running
  // Java thread has reported itself.
  void AttachAll();
  void Poll(proto::Chunk& chunk) override;
  void AddChanges(uint64_t time_ns, proto::Chunk& chunk) override;

 private:
  // The state of a thread for as long as it lives.
  struct SeenThread {
    uint32_t number = 0;    // Thread.id; 0: never attached by this object
    bool refused = false;   // by name or by the sampler; not tried again
    bool waiting = false;   // the last check found it without a Java thread
    bool was_java = false;  // it has reported its end as a Java thread
    uint64_t since_ns = 0;  // CPU time when its samples should have begun
  };
  void CheckThreads();
  void CheckThread(pid_t tid, bool is_new, SeenThread& state);
  void Attach(pid_t tid, SeenThread& state);

  jvm::ThreadRegistry& threads_;
  Sampler& sampler_;
  const ThreadNameFilter& names_;  // of threads that are sampled
  const std::function<bool(pid_t)> is_agent_thread_;
  Losses& losses_;
  std::map<pid_t, SeenThread> states_;
  uint64_t next_check_ns_ = 0;  // CLOCK_MONOTONIC
  uint64_t late_ns_ = 0;        // CPU time of threads before they were attached
};

}  // namespace jtrace::samples
