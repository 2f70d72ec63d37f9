#include "postproc/model/metric_info.h"

#include <algorithm>
#include <iterator>

namespace jtrace::postproc {
namespace {

constexpr MetricInfo kKnown[] = {
    {"alloc.bytes", MetricUnit::kBytes, "allocated in the heap"},
    {"alloc.objects", MetricUnit::kCount, "objects allocated in the heap"},
    {"alloc.sites", MetricUnit::kCount, "bytecodes executed that allocate"},
    {"live.bytes", MetricUnit::kBytes, "allocated since the start, not freed yet"},
    {"freed.bytes", MetricUnit::kBytes, "of objects that were freed"},
    {"cpu.ns", MetricUnit::kNanoseconds, "on a processor"},
    {"wall.ns", MetricUnit::kNanoseconds, "on the clock"},
    {"offcpu.ns", MetricUnit::kNanoseconds, "off the processors"},
    {"switches", MetricUnit::kCount, "context switches"},
    {"calls", MetricUnit::kCount, "calls of methods"},
    {"exceptions", MetricUnit::kCount, "exceptions thrown in Java code"},
    {"monitor.wait.ns", MetricUnit::kNanoseconds, "waiting to enter monitors"},
    {"gc.ns", MetricUnit::kNanoseconds, "in garbage collections"},
    {"page.faults", MetricUnit::kCount, "page faults"},
    {"io.read.bytes", MetricUnit::kBytes, "read"},
    {"io.write.bytes", MetricUnit::kBytes, "written"},
    {"jit.ns", MetricUnit::kNanoseconds, "of the JIT's compiler threads"},
};

}  // namespace

absl::Span<const MetricInfo> KnownMetrics() { return kKnown; }

MetricInfo InfoOfMetric(std::string_view name) {
  const auto* const known = std::find_if(std::begin(kKnown), std::end(kKnown),
                                         [&](const MetricInfo& it) { return it.name == name; });
  if (known != std::end(kKnown)) return *known;
  if (name.starts_with("user.")) return {name, MetricUnit::kCount, ""};
  if (name.ends_with(".bytes")) return {name, MetricUnit::kBytes, ""};
  if (name.ends_with(".ns")) return {name, MetricUnit::kNanoseconds, ""};
  return {name, MetricUnit::kCount, ""};
}

std::string_view MetricUnitName(MetricUnit unit) {
  switch (unit) {
    case MetricUnit::kCount:
      return "count";
    case MetricUnit::kBytes:
      return "bytes";
    case MetricUnit::kNanoseconds:
      return "ns";
  }
  return "";
}

}  // namespace jtrace::postproc
