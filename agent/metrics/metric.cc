#include "agent/metrics/metric.h"

#include <algorithm>

namespace jtrace::metrics {
namespace {

constexpr MetricInfo kMetrics[] = {
    {Metric::kAllocBytes, "alloc.bytes", "B", Reach::kPath, MetricOrigin::kJavaThread,
     "exact; without allocations that escape analysis removes",
     "2 ns a call where paths are recorded", "bytes allocated on the Java heap"},
    {Metric::kAllocObjects, "alloc.objects", "", Reach::kPath, MetricOrigin::kCounted,
     "exact; without allocations that escape analysis removes", "about 1 us an object",
     "objects allocated on the Java heap"},
    {Metric::kAllocSites, "alloc.sites", "", Reach::kPath, MetricOrigin::kCounted,
     "exact, the same on every run", "2 ns an allocation",
     "executions of bytecodes that allocate, in methods with probes"},
    {Metric::kLiveBytes, "live.bytes", "B", Reach::kProcess, MetricOrigin::kCounted,
     "as of the last collection; of objects allocated since the recording began",
     "some us and 50 B an object",
     "bytes on the heap that are not freed yet; in trees by the path that allocated them"},
    {Metric::kFreedBytes, "freed.bytes", "B", Reach::kProcess, MetricOrigin::kCounted,
     "as of the last collection; of objects allocated since the recording began",
     "some us and 50 B an object",
     "bytes of objects that a collection found dead; in trees by the path that allocated them"},
    {Metric::kCpu, "cpu.ns", "ns", Reach::kThread, MetricOrigin::kKernel, "the kernel's clock",
     "0.4 us a reading", "processor time"},
    {Metric::kWall, "wall.ns", "ns", Reach::kThread, MetricOrigin::kKernel,
     "exact since counting began", "a clock reading", "time since the thread's start"},
    {Metric::kOffCpu, "offcpu.ns", "ns", Reach::kThread, MetricOrigin::kKernel,
     "wall.ns less cpu.ns, which are read one after the other", "0.4 us a reading",
     "time in which the thread ran on no processor"},
    {Metric::kSwitches, "switches", "", Reach::kThread, MetricOrigin::kKernel, "the kernel's count",
     "1 us a reading, 30 us for other threads", "context switches, voluntary or not"},
    {Metric::kCalls, "calls", "", Reach::kPath, MetricOrigin::kTree, "exact",
     "none beyond the trees; a reading walks the thread's tree", "calls of methods with probes"},
    {Metric::kExceptions, "exceptions", "", Reach::kPath, MetricOrigin::kCounted, "exact",
     "several us an exception", "exceptions thrown in Java code"},
    {Metric::kMonitorWait, "monitor.wait.ns", "ns", Reach::kPath, MetricOrigin::kCounted, "exact",
     "1 us a wait", "time waiting to enter monitors that others held"},
    {Metric::kGc, "gc.ns", "ns", Reach::kProcess, MetricOrigin::kCounted, "exact", "none",
     "time between start and end of garbage collections that stop the program"},
    {Metric::kPageFaults, "page.faults", "", Reach::kThread, MetricOrigin::kKernel,
     "the kernel's count", "1 us a reading, 20 us for other threads",
     "page faults, minor and major"},
    {Metric::kReadBytes, "io.read.bytes", "B", Reach::kThread, MetricOrigin::kKernel,
     "the kernel's count", "20 us a reading", "bytes that read calls returned"},
    {Metric::kWrittenBytes, "io.write.bytes", "B", Reach::kThread, MetricOrigin::kKernel,
     "the kernel's count", "20 us a reading", "bytes given to write calls"},
    {Metric::kJit, "jit.ns", "ns", Reach::kProcess, MetricOrigin::kKernel, "the kernel's clock",
     "30 us a thread of the process", "processor time of the JIT's compiler threads"},
    {Metric::kJavaReadBytes, "java.read.bytes", "B", Reach::kPath, MetricOrigin::kCounted, "exact",
     "0.1 us a read", "bytes that the JDK's streams, channels and sockets read"},
    {Metric::kJavaWrittenBytes, "java.write.bytes", "B", Reach::kPath, MetricOrigin::kCounted,
     "exact", "0.1 us a write", "bytes that they write"},
    {Metric::kJavaIo, "java.io.ns", "ns", Reach::kPath, MetricOrigin::kCounted, "exact",
     "0.1 us a call", "time in their reads, writes, connects and accepts"},
    {Metric::kPathFaults, "path.page.faults", "", Reach::kPath, MetricOrigin::kCounted,
     "exact but for faults of the agent's handler", "2 us a fault", "page faults of Java threads"},
    {Metric::kPathSwitches, "path.switches", "", Reach::kPath, MetricOrigin::kCounted,
     "charged at every fourth", "2 us a signal", "context switches of Java threads"},
    {Metric::kPathCycles, "path.cycles", "", Reach::kPath, MetricOrigin::kCounted,
     "charged at each million", "2 us a signal", "cycles of the processor, of Java threads"},
    {Metric::kPathInstructions, "path.instructions", "", Reach::kPath, MetricOrigin::kCounted,
     "charged at each million", "2 us a signal", "the processor's instructions, of Java threads"},
    {Metric::kPathCacheMisses, "path.cache.misses", "", Reach::kPath, MetricOrigin::kCounted,
     "charged at each thousand", "2 us a signal", "cache misses of Java threads"},
    {Metric::kOutside, "outside.ns", "ns", Reach::kPath, MetricOrigin::kCounted, "exact",
     "50 ns a call of that class; with boundary=costs, record=tree",
     "time in calls out of scope that depend on others, callbacks not included"},
    {Metric::kBoundaryElements, "outside.elements", "", Reach::kPath, MetricOrigin::kCounted,
     "exact, the same on every run", "5 ns a call; with boundary=costs, record=tree",
     "elements given to calls out of scope whose cost depends on them"},
    {Metric::kLiveObjects, "live.objects", "", Reach::kProcess, MetricOrigin::kCounted,
     "as live.bytes", "some us and 50 B an object", "objects of live.bytes"},
    {Metric::kFreedObjects, "freed.objects", "", Reach::kProcess, MetricOrigin::kCounted,
     "as freed.bytes", "some us and 50 B an object", "objects of freed.bytes"},
};

constexpr bool InOrder() {
  for (size_t i = 0; i < std::size(kMetrics); ++i) {
    if (static_cast<size_t>(kMetrics[i].metric) != i) return false;
  }
  return std::size(kMetrics) <= kFirstUser;
}
static_assert(InOrder());

}  // namespace

std::span<const MetricInfo> AllMetrics() { return kMetrics; }

const MetricInfo& InfoOf(Metric metric) { return kMetrics[static_cast<size_t>(metric)]; }

std::optional<Metric> FindMetric(absl::string_view name) {
  const auto* const found = std::find_if(std::begin(kMetrics), std::end(kMetrics),
                                         [name](const MetricInfo& it) { return it.name == name; });
  if (found == std::end(kMetrics)) return std::nullopt;
  return found->metric;
}

absl::string_view ReachName(Reach reach) {
  switch (reach) {
    case Reach::kPath:
      return "path";
    case Reach::kThread:
      return "thread";
    case Reach::kProcess:
      return "process";
  }
  return "";
}

}  // namespace jtrace::metrics
