// Finds executable mappings of files, which are used to turn native addresses into names. Writer
// thread only.
//
// Reads the loader's list only when something was loaded or unloaded since the last look; never
// while a signal handler could be waiting for the loader's lock (no handler takes it).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "agent/trace/record_encoder.h"

namespace jtrace::trace {

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
  void Scan(uint64_t time_ns, RecordEncoder& encoder, proto::Chunk& chunk);

 private:
  uint64_t adds_ = 0;
  uint64_t subs_ = 0;
  std::map<uint64_t, MappedModule> known_;
};

}  // namespace jtrace::trace
