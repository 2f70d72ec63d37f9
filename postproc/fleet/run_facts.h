// Which run a trace is: its id, its partition, and what its header says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "postproc/fleet/labels.h"
#include "postproc/report/report.h"

namespace jtrace::postproc::fleet {

struct Partition {
  std::string service;
  std::string day;  // "2026-11-25", UTC; "1970-01-01" if the trace has no start
  std::string host;
  // NOLINTNEXTLINE(modernize-use-nullptr): it takes the comparison with 0 for one with a pointer.
  friend auto operator<=>(const Partition&, const Partition&) = default;
  // "service=shop/day=2026-11-25/host=web-1"; other characters than letters, digits, '.', '_' and
  // '-' as %2F; at most 80 bytes of each.
  std::string Folder() const;
};

struct RunFacts {
  // Of the host, process and start of the file: the same however often the trace is converted.
  // Of a trace that lacks these, of its file's name.
  int64_t id = 0;
  Partition partition;
  std::string trace;  // the file's name without folder
  std::optional<int64_t> pid;
  std::optional<int64_t> start_ns;
  std::optional<int64_t> duration_ns;
  std::optional<int64_t> interval_ns;  // what one tick stands for
  // What to multiply times with; 0: the trace's times are ticks.
  int64_t ns_per_unit = 0;
  std::optional<int64_t> Nanoseconds(int64_t time) const;
};

// What the trace's header says under that name, if it is a number.
std::optional<int64_t> NumberFact(const TraceInfo& trace, std::string_view key);

// `input` is of one trace.
RunFacts FactsOf(const ReportInput& input, const Labels& labels);

}  // namespace jtrace::postproc::fleet
