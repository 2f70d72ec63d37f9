#include "agent/base/machine_memory.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace jtrace {
namespace {

constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();
constexpr uint64_t kStep = 16ull << 20;
constexpr uint64_t kMinForTrees = 64ull << 20;
// To visit more nodes than this holds once a second would take the writer a whole processor.
constexpr uint64_t kMaxForTrees = 1ull << 30;
constexpr uint64_t kWhenUnknown = 512ull << 20;

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The number after the line's first word; `otherwise` if there is no such line.
uint64_t NumberAfter(absl::string_view text, absl::string_view word, uint64_t otherwise) {
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!absl::ConsumePrefix(&line, word)) continue;
    const std::vector<absl::string_view> words =
        absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    uint64_t number = 0;
    if (!words.empty() && absl::SimpleAtoi(words.front(), &number)) return number;
  }
  return otherwise;
}

// The names that one version of control groups gives its files.
struct GroupFiles {
  absl::string_view limit;
  absl::string_view usage;
  absl::string_view cached;  // in memory.stat: memory that can be released
};
constexpr GroupFiles kVersion1 = {"memory.limit_in_bytes", "memory.usage_in_bytes",
                                  "total_inactive_file "};
constexpr GroupFiles kVersion2 = {"memory.max", "memory.current", "inactive_file "};

uint64_t SpareIn(const std::string& folder, const GroupFiles& files) {
  const uint64_t limit = NumberAfter(Read(absl::StrCat(folder, "/", files.limit)), "", kUnlimited);
  if (limit == kUnlimited) return kUnlimited;
  const uint64_t usage = NumberAfter(Read(absl::StrCat(folder, "/", files.usage)), "", 0);
  const uint64_t cached = NumberAfter(Read(absl::StrCat(folder, "/memory.stat")), files.cached, 0);
  const uint64_t used = usage - std::min(usage, cached);
  return limit - std::min(limit, used);
}

// The smallest spare memory of the group and of its ancestors. In a container the path may be that
// of the host, which is absent there: then the mount's root is the group.
uint64_t LeastSpare(const std::string& mount, std::string group, const GroupFiles& files) {
  uint64_t least = kUnlimited;
  while (true) {
    least = std::min(least, SpareIn(mount + group, files));
    const size_t slash = group.rfind('/');
    if (slash == std::string::npos) return least;
    group.resize(slash);
  }
}

}  // namespace

uint64_t AvailableMemoryOf(absl::string_view meminfo, absl::string_view groups,
                           const std::string& mount) {
  constexpr uint64_t kKilobyte = 1024;
  const uint64_t of_machine = NumberAfter(meminfo, "MemAvailable:", 0);
  uint64_t least = of_machine == 0 ? kUnlimited : of_machine * kKilobyte;
  for (const absl::string_view line : absl::StrSplit(groups, '\n')) {
    // HIERARCHY:CONTROLLERS:PATH; version 2 has no controllers here.
    const std::vector<absl::string_view> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() != 3) continue;
    const std::string group(absl::StripSuffix(parts[2], "/"));
    const std::vector<absl::string_view> controllers = absl::StrSplit(parts[1], ',');
    if (parts[1].empty()) {
      least = std::min(least, LeastSpare(mount, group, kVersion2));
    } else if (std::find(controllers.begin(), controllers.end(), "memory") != controllers.end()) {
      least = std::min(least, LeastSpare(mount + "/memory", group, kVersion1));
    }
  }
  return least == kUnlimited ? 0 : least;
}

uint64_t AvailableMemory() {
  return AvailableMemoryOf(Read("/proc/meminfo"), Read("/proc/self/cgroup"), "/sys/fs/cgroup");
}

uint64_t DefaultTreeMemory(uint64_t available, uint64_t heap) {
  if (available == 0) return kWhenUnknown;
  const uint64_t spare = available - std::min(available, heap);
  return std::clamp(spare / 2 / kStep * kStep, kMinForTrees, kMaxForTrees);
}

}  // namespace jtrace
