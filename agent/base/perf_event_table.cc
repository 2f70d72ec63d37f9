#include "agent/base/perf_event_table.h"

#include <linux/perf_event.h>
#include <sys/utsname.h>

#include <array>
#include <charconv>

namespace jtrace {
namespace {

constexpr uint64_t kMillion = 1'000'000;

constexpr PerfEvent Clock(std::string_view name, uint64_t config) {
  return {name, PERF_TYPE_SOFTWARE, config, true, true, kMillion, 10'000};
}
constexpr PerfEvent Hardware(std::string_view name, uint64_t config, uint64_t period) {
  return {name, PERF_TYPE_HARDWARE, config, false, false, period, 1000};
}
constexpr PerfEvent Software(std::string_view name, uint64_t config, bool in_kernel,
                             uint64_t min_period) {
  return {name, PERF_TYPE_SOFTWARE, config, false, in_kernel, 100, min_period};
}

// A sample's signal at a context switch ends the wait that the thread was about to begin. Beginning
// it again is one more switch, so with a period of 1 the thread would never wait.
constexpr uint64_t kMinSwitches = 4;

constexpr std::array kEvents = {
    Clock("cpu-clock", PERF_COUNT_SW_CPU_CLOCK),
    Clock("task-clock", PERF_COUNT_SW_TASK_CLOCK),
    Software("page-faults", PERF_COUNT_SW_PAGE_FAULTS, false, 1),
    Software("minor-faults", PERF_COUNT_SW_PAGE_FAULTS_MIN, false, 1),
    Software("major-faults", PERF_COUNT_SW_PAGE_FAULTS_MAJ, false, 1),
    Software("context-switches", PERF_COUNT_SW_CONTEXT_SWITCHES, true, kMinSwitches),
    Software("cpu-migrations", PERF_COUNT_SW_CPU_MIGRATIONS, true, 1),
    Hardware("cycles", PERF_COUNT_HW_CPU_CYCLES, kMillion),
    Hardware("instructions", PERF_COUNT_HW_INSTRUCTIONS, kMillion),
    Hardware("ref-cycles", PERF_COUNT_HW_REF_CPU_CYCLES, kMillion),
    Hardware("bus-cycles", PERF_COUNT_HW_BUS_CYCLES, kMillion),
    Hardware("branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS, kMillion),
    Hardware("branch-misses", PERF_COUNT_HW_BRANCH_MISSES, 10'000),
    Hardware("cache-references", PERF_COUNT_HW_CACHE_REFERENCES, 100'000),
    Hardware("cache-misses", PERF_COUNT_HW_CACHE_MISSES, 10'000),
};

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// "6.18.0-rc4", and Fedora's "6.18.0-0.rc3.251031g…"; not "6.18.2-arch1".
bool HasCandidate(std::string_view release) { return Has(release, "-rc") || Has(release, ".rc"); }

bool MayHang(std::string_view release) {
  const char* const end = release.data() + release.size();
  unsigned major = 0, minor = 0;
  const auto first = std::from_chars(release.data(), end, major);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '.') return true;
  if (std::from_chars(first.ptr + 1, end, minor).ec != std::errc()) return true;
  if (Has(release, ".el")) return true;
  return major == 6 && (minor == 16 || minor == 17 || (minor == 18 && HasCandidate(release)));
}

}  // namespace

std::span<const PerfEvent> PerfEvents() { return kEvents; }

const PerfEvent* FindPerfEvent(std::string_view name) {
  for (const PerfEvent& event : kEvents) {
    if (event.name == name) return &event;
  }
  return nullptr;
}

std::string KernelRelease() {
  utsname name;
  return uname(&name) == 0 ? name.release : "";
}

signal_safe::PerfStopMode EventStopOf(const PerfEvent& event, std::string_view kernel_release) {
  return event.is_clock && MayHang(kernel_release) ? signal_safe::PerfStopMode::kByHandler
                                                   : signal_safe::PerfStopMode::kByKernel;
}

}  // namespace jtrace
