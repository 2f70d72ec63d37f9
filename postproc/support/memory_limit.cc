#include "postproc/support/memory_limit.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

// Enough for symbols of libjvm.so, buffers of all jobs and an unpacked long repetitive log.
constexpr uint64_t kBase = uint64_t{1} << 30;
// A node of a tree takes some 8 bytes in a trace, and 600 in memory while a report is made.
constexpr uint64_t kPerTraceByte = 1024;

std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The limit in a group's file; the greatest number if there is none ("max").
uint64_t LimitIn(const std::string& path) {
  const std::string text = ReadText(path);
  int64_t limit = 0;
  const bool is_number = ParseInteger(std::string_view(text).substr(0, text.find('\n')), limit);
  return is_number && limit > 0 ? static_cast<uint64_t>(limit)
                                : std::numeric_limits<uint64_t>::max();
}

// The least limit of the group and of those that contain it.
uint64_t LeastLimit(const std::string& mount, std::string group, std::string_view file) {
  uint64_t least = std::numeric_limits<uint64_t>::max();
  while (true) {
    least = std::min(least, LimitIn(StrCat(mount, group, "/", file)));
    const size_t slash = group.rfind('/');
    if (slash == std::string::npos) return least;
    group.resize(slash);
  }
}

}  // namespace

uint64_t MemoryOfGroups(std::string_view groups, const std::string& root, uint64_t physical) {
  uint64_t least = physical == 0 ? std::numeric_limits<uint64_t>::max() : physical;
  for (const std::string_view line : Split(groups, '\n')) {
    // HIERARCHY:CONTROLLERS:PATH; version 2 has no controllers here.
    const size_t first = line.find(':');
    const size_t second = line.find(':', first == std::string_view::npos ? first : first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string group(line.substr(second + 1));
    const std::vector<std::string_view> names = Split(controllers, ',');
    if (controllers.empty()) {
      least = std::min(least, LeastLimit(root, group, "memory.max"));
    } else if (std::find(names.begin(), names.end(), "memory") != names.end()) {
      least = std::min(least, LeastLimit(StrCat(root, "/memory"), group, "memory.limit_in_bytes"));
    }
  }
  return least == std::numeric_limits<uint64_t>::max() ? 0 : least;
}

uint64_t MachineMemory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  const uint64_t physical =
      pages > 0 && page > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(page) : 0;
  return MemoryOfGroups(ReadText("/proc/self/cgroup"), "/sys/fs/cgroup", physical);
}

uint64_t MemoryForTraces(uint64_t trace_bytes, uint64_t machine) {
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  const uint64_t honest =
      trace_bytes > (kMost - kBase) / kPerTraceByte ? kMost : kBase + kPerTraceByte * trace_bytes;
  // The rest is for other processes.
  return machine == 0 ? honest : std::min(honest, machine / 4 * 3);
}

ProcessMemory UsedMemory() {
  std::istringstream pages(ReadText("/proc/self/statm"));
  uint64_t all = 0, data = 0, other = 0;
  pages >> all >> other >> other >> other >> other >> data;
  const auto page = static_cast<uint64_t>(std::max(sysconf(_SC_PAGESIZE), 1L));
  return {all * page, data * page};
}

ProcessMemory StartLimits() {
  static const ProcessMemory limits = [] {
    const auto soft = [](auto which) {
      rlimit limit{};
      return getrlimit(which, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY
                 ? uint64_t{limit.rlim_cur}
                 : std::numeric_limits<uint64_t>::max();
    };
    return ProcessMemory{soft(RLIMIT_AS), soft(RLIMIT_DATA)};
  }();
  return limits;
}

std::string EarlierLimit(uint64_t bytes, const ProcessMemory& used, const ProcessMemory& limits) {
  const auto room = [](uint64_t limit, uint64_t use) { return limit - std::min(limit, use); };
  const uint64_t of_data = room(std::min(bytes, limits.data), used.data);
  if (room(limits.address_space, used.address_space) < of_data) {
    return StrCat(ByteSizeText(limits.address_space), " (ulimit -v)");
  }
  return limits.data < bytes ? StrCat(ByteSizeText(limits.data), " (ulimit -d)") : "";
}

bool LimitMemory(uint64_t bytes) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return bytes == 0;  // a sanitizer's shadow memory is terabytes
#else
  // The data of a process, unlike its address space, has no mapped files in it.
  rlimit limit{};
  if (getrlimit(RLIMIT_DATA, &limit) != 0) return false;
  limit.rlim_cur = std::min<rlim_t>({bytes, StartLimits().data, limit.rlim_max});
  return setrlimit(RLIMIT_DATA, &limit) == 0;
#endif
}

std::optional<uint64_t> ParseByteSize(std::string_view text) {
  constexpr std::string_view kUnits = "kmgt";
  int shift = 0;
  if (!text.empty()) {
    const size_t unit = kUnits.find(absl::ascii_tolower(static_cast<unsigned char>(text.back())));
    if (unit != std::string_view::npos) {
      shift = 10 * static_cast<int>(unit + 1);
      text.remove_suffix(1);
    }
  }
  int64_t number = 0;
  if (!ParseInteger(text, number) || number < 0) return std::nullopt;
  if (number > (std::numeric_limits<int64_t>::max() >> shift)) return std::nullopt;
  return static_cast<uint64_t>(number) << shift;
}

std::string ByteSizeText(uint64_t bytes) {
  constexpr double kStep = 1024;
  auto value = static_cast<double>(bytes);
  for (const char* const unit : {"bytes", "KB", "MB"}) {
    if (value < kStep - 0.5) return absl::StrFormat("%.0f %s", value, unit);
    value /= kStep;
  }
  return absl::StrFormat("%.1f GB", value);
}

}  // namespace jtrace::postproc
