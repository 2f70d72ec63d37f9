// What the writer thread looks up by itself: loaded modules, threads of the JVM that run no Java
// code, and the table of losses.
#pragma once

#include <functional>
#include <set>

#include "agent/clock.h"
#include "agent/jvmti/thread_registry.h"
#include "agent/losses.h"
#include "agent/name_filter.h"
#include "agent/writer/chunk_source.h"
#include "agent/writer/module_scanner.h"

namespace jtrace::sampling {
class Sampler;
}

namespace jtrace::writer {

class ModuleSource : public ChunkSource {
 public:
  explicit ModuleSource(RecordEncoder& encoder) : encoder_(encoder) {}
  void Seal(uint64_t time_ns, proto::Chunk& chunk) override {
    scanner_.Scan(time_ns, encoder_, chunk);
  }
  void BeginFile() override { scanner_ = ModuleScanner(); }

 private:
  RecordEncoder& encoder_;
  ModuleScanner scanner_;
};

// Attaches the JVM's own threads to the sampler as they appear, but not the agent's.
class InternalThreadSource : public ChunkSource {
 public:
  InternalThreadSource(jvmti::ThreadRegistry& threads, sampling::Sampler& sampler,
                       const NameFilter& names, std::function<bool(pid_t)> is_agent_thread);
  // Attaches all of them that run now: before the writer starts, when every Java thread that runs
  // has reported itself.
  void AttachAll();
  void Seal(uint64_t time_ns, proto::Chunk& chunk) override;

 private:
  void Attach(pid_t tid);

  jvmti::ThreadRegistry& threads_;
  sampling::Sampler& sampler_;
  const NameFilter& names_;  // of threads that are sampled
  const std::function<bool(pid_t)> is_agent_thread_;
  std::set<pid_t> seen_once_;
  std::set<pid_t> attached_;
};

// Lets go of threads that ended. Last of the sources: the others may still ask about them.
class EndedThreadSource : public ChunkSource {
 public:
  explicit EndedThreadSource(jvmti::ThreadRegistry& threads) : threads_(threads) {}
  void Seal(uint64_t, proto::Chunk&) override { threads_.ForgetEnded(); }

 private:
  jvmti::ThreadRegistry& threads_;
};

class LossSource : public ChunkSource {
 public:
  explicit LossSource(const Losses& losses) : losses_(losses) {}
  void Seal(uint64_t time_ns, proto::Chunk& chunk) override;

 private:
  const Losses& losses_;
};

}  // namespace jtrace::writer
