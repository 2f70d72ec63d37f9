// The sources that the writer thread reads itself: loaded modules, threads of the JVM that run no
// Java code, and the table of losses.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "agent/base/clock.h"
#include "agent/base/losses.h"
#include "agent/base/name_filter.h"
#include "agent/jvm/thread_registry.h"
#include "agent/trace/chunk_source.h"
#include "agent/trace/record_encoder.h"

namespace jtrace::samples {

// Finds executable mappings of files, which are used to turn native addresses into names. Writer
// thread only.
//
// Reads the loader's list only when something was loaded or unloaded since the last look; never
// while a signal handler could be waiting for the loader's lock (no handler takes it).

// An executable segment of a loaded object.
struct MappedModule {
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t file_offset = 0;
  std::string path;
  std::string build_id;

  bool operator==(const MappedModule&) const = default;
};

// The executable segments of all loaded objects now, by start address. The vdso is "[vdso]".
std::vector<MappedModule> LoadedModules();

class ModuleScanner {
 public:
  // Adds to `chunk` what was loaded and unloaded since the last call.
  void Scan(uint64_t time_ns, trace::RecordEncoder& encoder, proto::Chunk& chunk);

 private:
  uint64_t adds_ = 0;
  uint64_t subs_ = 0;
  std::map<uint64_t, MappedModule> known_;
};

class Sampler;

// Writes modules that were loaded and unloaded.
class ModuleSource : public trace::ChunkSource {
 public:
  explicit ModuleSource(trace::RecordEncoder& encoder) : encoder_(encoder) {}
  void Seal(uint64_t time_ns, proto::Chunk& chunk) override {
    scanner_.Scan(time_ns, encoder_, chunk);
  }
  void BeginFile() override { scanner_ = ModuleScanner(); }

 private:
  trace::RecordEncoder& encoder_;
  ModuleScanner scanner_;
};

// Attaches threads that run no Java code to the sampler as they appear: threads of the JVM, threads
// of native code, and these again after they left the JVM (JNI DetachCurrentThread). Not the
// agent's threads.
//
// It looks ten times a second, less often if that takes more than a hundredth of a processor. A
// thread is attached when two looks in a row find it without a Java thread: a starting Java thread
// reports itself before it runs any Java code. A thread that has reported its end is about to exit,
// even if a busy machine delays that; only the CPU time that it uses afterwards shows otherwise.
class InternalThreadSource : public trace::ChunkSource {
 public:
  InternalThreadSource(jvm::ThreadRegistry& threads, Sampler& sampler, const NameFilter& names,
                       std::function<bool(pid_t)> is_agent_thread, Losses& losses);
  // Attaches all of them that run now. Call it before the writer starts, when every running Java
  // thread has reported itself.
  void AttachAll();
  void Poll(proto::Chunk& chunk) override;
  void Seal(uint64_t time_ns, proto::Chunk& chunk) override;

 private:
  // The state of a thread for as long as it lives.
  struct Seen {
    uint32_t number = 0;    // Thread.id; 0: not attached here yet
    bool refused = false;   // by its name or by the sampler; not tried again
    bool waiting = false;   // the last look found it without a Java thread
    bool was_java = false;  // it has reported its end as a Java thread
    uint64_t since_ns = 0;  // its CPU time when its samples should have begun
  };
  void Look();
  void LookAt(pid_t tid, bool is_new, Seen& seen);
  void Attach(pid_t tid, Seen& seen);

  jvm::ThreadRegistry& threads_;
  Sampler& sampler_;
  const NameFilter& names_;  // of threads that are sampled
  const std::function<bool(pid_t)> is_agent_thread_;
  Losses& losses_;
  std::map<pid_t, Seen> seen_;
  uint64_t next_look_ns_ = 0;  // CLOCK_MONOTONIC
  uint64_t late_ns_ = 0;       // CPU time of threads before they were attached
};

// Releases ended threads. Last of the sources: the others may still ask about them.
class EndedThreadSource : public trace::ChunkSource {
 public:
  explicit EndedThreadSource(jvm::ThreadRegistry& threads) : threads_(threads) {}
  void Seal(uint64_t, proto::Chunk&) override { threads_.ForgetEnded(); }

 private:
  jvm::ThreadRegistry& threads_;
};

// Writes the table of losses.
class LossSource : public trace::ChunkSource {
 public:
  explicit LossSource(const Losses& losses) : losses_(losses) {}
  void Seal(uint64_t time_ns, proto::Chunk& chunk) override;

 private:
  const Losses& losses_;
};

}  // namespace jtrace::samples
