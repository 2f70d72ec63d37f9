#include "agent/calls/classfile/monitor_sites.h"

#include "agent/calls/classfile/probe_planner.h"
#include "common/classfile/opcodes.h"

namespace jtrace::classfile {

void FindMonitorSites(const MethodInfo& method, const CodeAttribute& code,
                      std::vector<Site>& sites) {
  const bool is_synchronized = (method.access & kAccSynchronized) != 0;
  const auto add = [&](SiteKind kind, size_t bci, bool of_method) {
    sites.push_back({.kind = kind, .bci = static_cast<uint32_t>(bci), .of_method = of_method});
  };
  if (is_synchronized) add(SiteKind::kMonitorEnter, 0, /*of_method=*/true);
  for (uint32_t at = 0; at < code.code.size();
       at += static_cast<uint32_t>(InstructionLength(code.code, at))) {
    const uint8_t opcode = code.code[at];
    if (opcode == kOpMonitorenter) add(SiteKind::kMonitorEnter, at, /*of_method=*/false);
    if (opcode == kOpMonitorexit) add(SiteKind::kMonitorExit, at, /*of_method=*/false);
    if (is_synchronized && IsReturn(opcode)) add(SiteKind::kMonitorExit, at, /*of_method=*/true);
  }
  if (is_synchronized) add(SiteKind::kMonitorExit, code.code.size(), /*of_method=*/true);
}

bool ReleasesAtCatchAll(absl::Span<const Site> sites, const CodeAttribute& code) {
  return !sites.empty() && sites.back().bci == code.code.size();
}

uint32_t MonitorProbeBci(const Site& site, const CodeAttribute& code) {
  if (site.kind == SiteKind::kMonitorEnter) return site.bci;
  for (const ExceptionRow& row : code.exceptions) {
    const bool covers_itself = row.start <= row.handler && row.handler < row.end;
    if (!covers_itself || site.bci < row.handler || site.bci >= row.end) continue;
    if (const uint32_t after = ResumeBci(row.handler, code); after > site.bci) return after;
  }
  return site.bci;
}

}  // namespace jtrace::classfile
