// Records which objects are loaded: their addresses turn native frames into names.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "agent/trace/chunk_source.h"
#include "agent/trace/record_encoder.h"

namespace jtrace::samples {

// An executable segment of a loaded object.
struct CodeSegment {
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t file_offset = 0;
  std::string path;
  std::string build_id;

  bool operator==(const CodeSegment&) const = default;
};

// The executable segments of all loaded objects now, by start address. The vdso is "[vdso]".
std::vector<CodeSegment> LoadedModules();

// Finds the executable segments that were loaded and unloaded. Reads the loader's list only if its
// counters have changed since the last scan. Takes the loader's lock, which no handler needs.
// Writer thread only.
class ModuleScanner {
 public:
  // Adds to `chunk` what was loaded and unloaded since the last call.
  void Scan(uint64_t time_ns, trace::RecordEncoder& encoder, proto::Chunk& chunk);

 private:
  uint64_t adds_ = 0;                      // objects ever loaded, at the last scan
  uint64_t subs_ = 0;                      // objects ever unloaded
  std::map<uint64_t, CodeSegment> known_;  // by start
};

// Writes modules that were loaded and unloaded.
class ModuleSource : public trace::ChunkSource {
 public:
  explicit ModuleSource(trace::RecordEncoder& encoder) : encoder_(encoder) {}
  void AddChanges(uint64_t time_ns, proto::Chunk& chunk) override {
    scanner_.Scan(time_ns, encoder_, chunk);
  }
  void BeginFile() override { scanner_ = ModuleScanner(); }

 private:
  trace::RecordEncoder& encoder_;
  ModuleScanner scanner_;
};

}  // namespace jtrace::samples
