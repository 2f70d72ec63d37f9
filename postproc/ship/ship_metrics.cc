#include "postproc/ship/ship_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <string_view>

#include "absl/strings/str_format.h"
#include "common/utf8.h"
#include "postproc/support/strings.h"
#include "postproc/version.h"

namespace jtrace::ship {
namespace {

using postproc::StrAppend;
using postproc::StrCat;

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

double ProcessorSeconds(int who) {
  rusage usage = {};
  getrusage(who, &usage);
  return Seconds(usage.ru_utime) + Seconds(usage.ru_stime);
}

// Label values escape these.
std::string Quoted(std::string_view text) {
  std::string quoted;
  for (const char c : ValidUtf8(text)) {
    if (c == '\\' || c == '"') quoted += '\\';
    if (c == '\n') {
      quoted += "\\n";
    } else {
      quoted += c;
    }
  }
  return quoted;
}

class Writer {
 public:
  void Head(std::string_view name, std::string_view type, std::string_view help) {
    name_ = StrCat("jtrace_ship_", name);
    StrAppend(&text_, "# HELP ", name_, " ", help, "\n# TYPE ", name_, " ", type, "\n");
  }
  void Value(std::string_view labels, double value) {
    StrAppend(&text_, name_, labels, " ", absl::StrFormat("%.17g", value), "\n");
  }
  void Single(std::string_view name, std::string_view type, std::string_view help, double value) {
    Head(name, type, help);
    Value("", value);
  }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
  std::string name_;
};

struct TargetColumn {
  std::string_view name;
  std::string_view type;
  std::string_view help;
  double (*value)(const TargetCounts& counts);
};

constexpr TargetColumn kOfTargets[] = {
    {"delivered_total", "counter", "Traces that the target took.",
     [](const TargetCounts& it) { return static_cast<double>(it.delivered); }},
    {"refused_total", "counter", "Traces that the target will never take.",
     [](const TargetCounts& it) { return static_cast<double>(it.refused); }},
    {"retries_total", "counter", "Deliveries that failed and are tried again.",
     [](const TargetCounts& it) { return static_cast<double>(it.retries); }},
    {"sent_bytes_total", "counter", "Bytes of profiles that servers took.",
     [](const TargetCounts& it) { return static_cast<double>(it.bytes); }},
    {"target_works", "gauge", "1: the last delivery succeeded, or none was tried.",
     [](const TargetCounts& it) { return it.works ? 1.0 : 0.0; }},
    {"last_delivery_timestamp_seconds", "gauge", "When the target last took a trace; 0: not yet.",
     [](const TargetCounts& it) { return absl::ToDoubleSeconds(it.last - absl::UnixEpoch()); }},
};

void WriteTraces(const ShipMetrics& metrics, Writer& out) {
  const auto number = [](uint64_t value) { return static_cast<double>(value); };
  out.Single("shipped_total", "counter", "Traces that all targets have.", number(metrics.shipped));
  out.Single("failed_total", "counter", "Traces that were set aside.", number(metrics.failed));
  out.Single("dropped_total", "counter", "Traces that were deleted unshipped, for --spool.",
             number(metrics.dropped));
  out.Single("dropped_bytes_total", "counter", "Their bytes.", number(metrics.dropped_bytes));
  out.Single("waiting_traces", "gauge", "Sealed traces that a target does not have yet.",
             number(metrics.waiting));
  out.Single("waiting_bytes", "gauge", "Their bytes.", number(metrics.waiting_bytes));
  out.Single("waiting_oldest_seconds", "gauge", "How long the oldest of them is sealed.",
             metrics.oldest_seconds);
  out.Single("recording_traces", "gauge", "Traces that JVMs are writing.",
             number(metrics.recording));
  out.Single("unreadable_traces", "gauge", "Files of another user, which this one cannot read.",
             number(metrics.unreadable));
}

}  // namespace

ProcessCost CostOfThisProcess() {
  ProcessCost cost = {.own_seconds = ProcessorSeconds(RUSAGE_SELF),
                      .children_seconds = ProcessorSeconds(RUSAGE_CHILDREN)};
  rusage children = {};
  getrusage(RUSAGE_CHILDREN, &children);
  cost.children_peak_bytes = static_cast<uint64_t>(children.ru_maxrss) * 1024;
  std::ifstream in("/proc/self/statm");
  uint64_t size = 0;
  uint64_t resident = 0;
  if (in >> size >> resident) {
    cost.resident_bytes = resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  }
  return cost;
}

std::string MetricsText(const ShipMetrics& metrics, const ProcessCost& cost) {
  Writer out;
  out.Head("info", "gauge", "The version of jtrace.");
  out.Value(StrCat("{version=\"", postproc::kVersion, "\"}"), 1);
  WriteTraces(metrics, out);
  for (const TargetColumn& column : kOfTargets) {
    out.Head(column.name, column.type, column.help);
    for (const auto& [name, counts] : metrics.targets) {
      out.Value(StrCat("{target=\"", Quoted(name), "\"}"), column.value(counts));
    }
  }
  out.Head("cpu_seconds_total", "counter", "Processor time of the shipper and of what it ran.");
  out.Value("{of=\"shipper\"}", cost.own_seconds);
  out.Value("{of=\"conversions\"}", cost.children_seconds);
  out.Single("resident_bytes", "gauge", "Memory of the shipper, without conversions.",
             static_cast<double>(cost.resident_bytes));
  out.Single("conversion_peak_bytes", "gauge", "Memory of the largest conversion so far.",
             static_cast<double>(cost.children_peak_bytes));
  return out.Take();
}

}  // namespace jtrace::ship
