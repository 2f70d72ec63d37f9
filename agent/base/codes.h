// The kinds of records by code (S3.1) and which of them are recorded: codes=+0x61;-0x51;+alloc.
// Pure.
#pragma once

#include <bitset>
#include <cstdint>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace jtrace {

// Each is one switch; a row of the table in codes.cc.
enum class Code {
  kInterrupt,
  kThread,
  kThreadSwitch,
  kClass,
  kClassPrepare,
  kClassRedefine,
  kInterpreted,
  kBoundary,
  kException,
  kNativeHook,
  kSample,
  kUnwind,
  kJitted,
  kJit,
  kGc,
  kMonitor,
  kPark,
  kAllocation,
  kMetric,
};
inline constexpr size_t kCodeCount = static_cast<size_t>(Code::kMetric) + 1;

// The codes that are recorded.
class CodeSet {
 public:
  // The cheap ones are on.
  CodeSet();

  bool Has(Code code) const { return on_[static_cast<size_t>(code)]; }
  // Majors that are on by default and were switched off.
  std::set<uint32_t> MajorsOff() const;

  // Applies "+0x61", "-jit" or "alloc", several of them separated by `;`. A number switches all
  // records of its major. The error names the nearest existing code.
  absl::Status Apply(absl::string_view list);

 private:
  std::bitset<kCodeCount> on_;
};

// "gc on, monitor off, …" for people: a line a code.
std::string CodesHelp();

}  // namespace jtrace
