// The test program itself as a module of a trace: its functions are known answers.
#pragma once

#include <link.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "native-tests/support/trace_builder.h"

namespace jtrace::testing {

// The test program's executable segment.
struct Executable {
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t file_offset = 0;
};

inline Executable FindExecutableSegment() {
  Executable found;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* result) {
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& segment = info->dlpi_phdr[i];
          if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
          *static_cast<Executable*>(result) = {info->dlpi_addr + segment.p_vaddr,
                                               info->dlpi_addr + segment.p_vaddr + segment.p_memsz,
                                               segment.p_offset};
          break;
        }
        return 1;  // the program itself is first
      },
      &found);
  return found;
}

inline std::string SelfPath() {
  std::string path(4096, '\0');
  path.resize(static_cast<size_t>(readlink("/proc/self/exe", path.data(), path.size())));
  return path;
}

inline void AddOwnModule(TraceBuilder& builder, const std::string& build_id = "") {
  const Executable self = FindExecutableSegment();
  const uint32_t path = builder.String(SelfPath());
  proto::Module& module = *builder.chunk().add_module();
  module.set_start(self.start);
  module.set_end(self.end);
  module.set_file_offset(self.file_offset);
  module.set_path(path);
  module.set_build_id(build_id);
}

}  // namespace jtrace::testing
