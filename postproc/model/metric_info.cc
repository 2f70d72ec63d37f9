#include "postproc/model/metric_info.h"

#include <algorithm>
#include <iterator>

namespace jtrace::postproc {
namespace {

constexpr MetricInfo kKnown[] = {
    {"alloc.bytes", MetricUnit::kBytes, "allocated in the heap"},
    {"alloc.objects", MetricUnit::kCount, "objects allocated in the heap"},
    {"alloc.sites", MetricUnit::kCount, "bytecodes executed that allocate"},
    {"live.bytes", MetricUnit::kBytes, "allocated since the start, not freed yet", "record=tree"},
    {"freed.bytes", MetricUnit::kBytes, "of objects that were freed", "record=tree"},
    {"live.objects", MetricUnit::kCount, "objects allocated since the start, not freed yet",
     "record=tree"},
    {"freed.objects", MetricUnit::kCount, "objects that were freed", "record=tree"},
    {"cpu.ns", MetricUnit::kNanoseconds, "on a processor", "clock=cpu, and --metric=time"},
    {"wall.ns", MetricUnit::kNanoseconds, "on the clock", "clock=tsc, and --metric=time"},
    {"offcpu.ns", MetricUnit::kNanoseconds, "off the processors", "clock=cpu, and --metric=off"},
    {"switches", MetricUnit::kCount, "context switches", "metrics=path.switches"},
    {"calls", MetricUnit::kCount, "calls of methods"},
    {"exceptions", MetricUnit::kCount, "exceptions thrown in Java code"},
    {"monitor.wait.ns", MetricUnit::kNanoseconds, "waiting to enter monitors"},
    {"gc.ns", MetricUnit::kNanoseconds, "in garbage collections"},
    {"page.faults", MetricUnit::kCount, "page faults", "metrics=path.page.faults"},
    {"io.read.bytes", MetricUnit::kBytes, "read", "metrics=java.read.bytes"},
    {"io.write.bytes", MetricUnit::kBytes, "written", "metrics=java.write.bytes"},
    {"bytecodes", MetricUnit::kCount, "bytecode instructions executed (blocks=on, blocks=paths)"},
    {"cycles", MetricUnit::kCount, "their cost by a table (--costs)"},
    {"jit.ns", MetricUnit::kNanoseconds, "of the JIT's compiler threads"},
    {"outside.ns", MetricUnit::kNanoseconds, "in calls out of scope that depend on others"},
    {"outside.elements", MetricUnit::kCount, "elements that calls out of scope got"},
    {"outside.cycles", MetricUnit::kCount, "cycles of calls out of scope, by the table of costs"},
};

}  // namespace

absl::Span<const MetricInfo> KnownMetrics() { return kKnown; }

MetricInfo InfoOfMetric(std::string_view name) {
  const auto* const known = std::find_if(std::begin(kKnown), std::end(kKnown),
                                         [&](const MetricInfo& it) { return it.name == name; });
  if (known != std::end(kKnown)) return *known;
  constexpr std::string_view kElapsed = "elapsed.";
  if (name.starts_with(kElapsed)) {
    return {name, InfoOfMetric(name.substr(kElapsed.size())).unit, "by all threads meanwhile"};
  }
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
