#include "agent/samples/module_source.h"

#include <elf.h>
#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "agent/base/listed_objects.h"
#include "agent/samples/loaded_objects_copy.h"

namespace jtrace::samples {
namespace {

constexpr uint64_t kPage = 4096;

std::string ExecutablePath() {
  char path[4096];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof(path));
  return n > 0 ? std::string(path, static_cast<size_t>(n)) : "";
}

std::string PathOf(const ListedDso& object) {
  if (object.bias == getauxval(AT_SYSINFO_EHDR)) return "[vdso]";
  return object.name.empty() ? ExecutablePath() : object.name;
}

void AddModules(const ListedDso& object, std::vector<CodeSegment>& modules) {
  for (const Elf64_Phdr& segment : object.headers) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const uint64_t lead = segment.p_vaddr % kPage;
    const uint64_t start = object.bias + segment.p_vaddr - lead;
    modules.push_back({.start = start,
                       .end = object.bias + segment.p_vaddr + segment.p_memsz,
                       .file_offset = segment.p_offset - lead,
                       .path = PathOf(object),
                       .build_id = object.build_id});
  }
}

int ReadCounters(dl_phdr_info* info, size_t, void* data) {
  auto& counters = *static_cast<std::pair<uint64_t, uint64_t>*>(data);
  counters = {info->dlpi_adds, info->dlpi_subs};
  return 1;  // the first object has all of it
}

void Define(const CodeSegment& module, uint64_t time_ns, bool unloaded,
            trace::RecordEncoder& encoder, proto::Chunk& chunk) {
  proto::Module* record = chunk.add_module();
  record->set_time_ns(time_ns);
  record->set_unloaded(unloaded);
  record->set_start(module.start);
  record->set_end(module.end);
  record->set_file_offset(module.file_offset);
  record->set_path(encoder.String(module.path));
  record->set_build_id(module.build_id);
}

}  // namespace

std::vector<CodeSegment> LoadedModules() {
  std::vector<CodeSegment> modules;
  for (const ListedDso& object : ListDsos()) AddModules(object, modules);
  std::sort(modules.begin(), modules.end(),
            [](const auto& a, const auto& b) { return a.start < b.start; });
  return modules;
}

void ModuleScanner::Scan(uint64_t time_ns, trace::RecordEncoder& encoder, proto::Chunk& chunk) {
  std::pair<uint64_t, uint64_t> counters;
  dl_iterate_phdr(ReadCounters, &counters);
  if (counters.first == adds_ && counters.second == subs_) return;
  std::tie(adds_, subs_) = counters;
  RefreshDsoCopy();
  std::map<uint64_t, CodeSegment> now;
  for (CodeSegment& module : LoadedModules()) now.emplace(module.start, std::move(module));
  for (const auto& [start, module] : known_) {
    const auto same = now.find(start);
    if (same == now.end() || same->second != module) Define(module, time_ns, true, encoder, chunk);
  }
  for (const auto& [start, module] : now) {
    const auto same = known_.find(start);
    if (same == known_.end() || same->second != module) {
      Define(module, time_ns, false, encoder, chunk);
    }
  }
  known_ = std::move(now);
}

}  // namespace jtrace::samples
