#include "postproc/cli/attach_capability.h"

#include <fcntl.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>

#include "postproc/cli/root_folder.h"
#include "postproc/support/strings.h"

namespace jtrace::control {
namespace {

using namespace std::string_view_literals;
using postproc::StrCat;

// An entry of the file (jdk.internal.perf, PerfDataEntry of version 2.0): its length, the offset of
// the name, the length of an array, four bytes on its type, the offset of the value.
struct EntryHead {
  uint32_t length;
  uint32_t name_offset;
  uint32_t vector_length;
  uint8_t type, flags, unit, variability;
  uint32_t data_offset;
};
static_assert(sizeof(EntryHead) == 20);

// The folder has the user's name as the JVM knows it, which in a container is not ours.
std::string PerformanceData(const JvmProcess& jvm) {
  constexpr size_t kMostBytes = 1 << 20;  // a JVM's has 32 KB
  const auto folder = OpenInRoot(jvm.root, "/tmp", O_PATH | O_DIRECTORY);
  if (!folder.ok()) return "";
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder->path(), error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("hsperfdata_")) continue;
    const auto file = OpenFileOf(jvm.user, jvm.root, StrCat("/tmp/", name, "/", jvm.inner_pid));
    if (file.ok()) return file->Read(kMostBytes);
  }
  return "";
}

}  // namespace

std::optional<bool> AttachIsOn(std::string_view performance_data) {
  const size_t name = performance_data.find("sun.rt.jvmCapabilities\0"sv);
  EntryHead head;
  if (name == std::string_view::npos || name < sizeof head) return std::nullopt;
  const size_t begin = name - sizeof head;
  std::memcpy(&head, performance_data.data() + begin, sizeof head);
  if (head.name_offset != sizeof head || head.data_offset >= head.length ||
      head.data_offset >= performance_data.size() - begin) {
    return std::nullopt;
  }
  return performance_data[begin + head.data_offset] == '1';
}

bool RefusesAttach(const JvmProcess& jvm) {
  return !AttachIsOn(PerformanceData(jvm)).value_or(true);
}

}  // namespace jtrace::control
