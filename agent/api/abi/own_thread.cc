// The C functions that signal handlers may call, too: no lock, no allocation, errno is kept.
#include "absl/strings/string_view.h"
#include "agent/api/abi/codes.h"
#include "agent/api/abi/functions.h"

namespace jtrace::abi {
namespace {

using metrics::Availability;
using metrics::MetricInfo;
using metrics::UserCounter;

constexpr char kUserExactness[] = "exact";
constexpr char kUserCost[] = "2 ns an addition";
constexpr char kPerCpuCost[] = "3 ns an addition";
constexpr char kUserMeaning[] = "one of the program's own counters";

// The table's texts are literals, so a 0 follows each of them.
jtrace_metric Describe(const MetricInfo& info) {
  jtrace_metric text = {};
  text.reach = static_cast<uint32_t>(info.reach);
  text.name = info.name.data();
  text.unit = info.unit.data();
  text.exactness = info.exactness.data();
  text.cost = info.cost.data();
  text.meaning = info.what.data();
  return text;
}

jtrace_metric Describe(const UserCounter& counter) {
  const bool by_processor = counter.counting == metrics::Counting::kByProcessor;
  jtrace_metric text = {};
  text.reach = by_processor ? JTRACE_REACH_PROCESS : JTRACE_REACH_PATH;
  text.name = counter.name.c_str();
  text.unit = counter.unit.c_str();
  text.exactness = kUserExactness;
  text.cost = by_processor ? kPerCpuCost : kUserCost;
  text.meaning = kUserMeaning;
  return text;
}

static_assert(JTRACE_REACH_PATH == static_cast<int>(metrics::Reach::kPath));
static_assert(JTRACE_REACH_THREAD == static_cast<int>(metrics::Reach::kThread));
static_assert(JTRACE_REACH_PROCESS == static_cast<int>(metrics::Reach::kProcess));

bool IsMetric(uint32_t id) {
  return Counters().current_thread().AvailabilityOf(id) != Availability::kNoMetric;
}

const char* NameOf(uint32_t id) {
  if (const UserCounter* const counter = Counters().users().Find(id)) return counter->name.c_str();
  return metrics::AllMetrics()[id].name.data();
}

}  // namespace

int32_t MetricIds(uint32_t* ids, size_t capacity, size_t* count) {
  if (const int32_t state = State(); state != JTRACE_OK) return state;
  if (count == nullptr || (ids == nullptr && capacity != 0)) return JTRACE_E_ARGUMENT;
  size_t found = 0;
  for (uint32_t id = 0; id < signal_safe::kMaxMetrics; ++id) {
    if (!IsMetric(id)) continue;
    if (found < capacity) ids[found] = id;
    ++found;
  }
  *count = found;
  return JTRACE_OK;
}

int32_t MetricId(const char* name, uint32_t* id) {
  if (const int32_t state = State(); state != JTRACE_OK) return state;
  if (name == nullptr || id == nullptr) return JTRACE_E_ARGUMENT;
  for (uint32_t i = 0; i < signal_safe::kMaxMetrics; ++i) {
    if (!IsMetric(i) || absl::string_view(NameOf(i)) != name) continue;
    *id = i;
    return JTRACE_OK;
  }
  return JTRACE_E_METRIC;
}

int32_t MetricInfo(uint32_t id, jtrace_metric* info) {
  if (const int32_t state = State(); state != JTRACE_OK) return state;
  if (info == nullptr) return JTRACE_E_ARGUMENT;
  const Availability availability = Counters().current_thread().AvailabilityOf(id);
  if (availability == Availability::kNoMetric) return JTRACE_E_METRIC;
  const UserCounter* const counter = Counters().users().Find(id);
  jtrace_metric text =
      counter != nullptr ? Describe(*counter) : Describe(metrics::AllMetrics()[id]);
  text.id = id;
  text.available = Code(availability);
  return CopySized(text, kFirstMetricSize, info) ? JTRACE_OK : JTRACE_E_ARGUMENT;
}

int32_t CurrentThreadTotals(const uint32_t* ids, size_t count, int64_t* values) {
  if (const int32_t state = State(); state != JTRACE_OK) return state;
  if (count != 0 && (ids == nullptr || values == nullptr)) return JTRACE_E_ARGUMENT;
  const metrics::CurrentThreadTotals& own = Counters().current_thread();
  for (size_t i = 0; i < count; ++i) {
    if (const Availability availability = own.Read(ids[i], values[i]);
        availability != Availability::kYes) {
      return Code(availability);
    }
  }
  return JTRACE_OK;
}

int32_t Add(uint32_t id, int64_t delta) {
  if (const int32_t state = State(); state != JTRACE_OK) return state;
  return Code(Counters().current_thread().Add(id, delta));
}

}  // namespace jtrace::abi
