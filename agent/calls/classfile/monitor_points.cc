#include "agent/calls/classfile/monitor_points.h"

#include "agent/calls/classfile/bytecode_analysis.h"
#include "common/classfile/opcodes.h"

namespace jtrace::classfile {

void FindMonitorPoints(const MethodInfo& method, const CodeAttribute& code,
                       std::vector<ProbePoint>& points) {
  const bool is_synchronized = (method.access & kAccSynchronized) != 0;
  const auto add = [&](ProbePointKind kind, size_t bci, bool is_method_monitor) {
    points.push_back(
        {.kind = kind, .bci = static_cast<uint32_t>(bci), .is_method_monitor = is_method_monitor});
  };
  if (is_synchronized) add(ProbePointKind::kMonitorEnter, 0, /*is_method_monitor=*/true);
  for (uint32_t at = 0; at < code.code.size();
       at += static_cast<uint32_t>(InstructionLength(code.code, at))) {
    const uint8_t opcode = code.code[at];
    if (opcode == kOpMonitorenter)
      add(ProbePointKind::kMonitorEnter, at, /*is_method_monitor=*/false);
    if (opcode == kOpMonitorexit)
      add(ProbePointKind::kMonitorExit, at, /*is_method_monitor=*/false);
    if (is_synchronized && IsReturn(opcode))
      add(ProbePointKind::kMonitorExit, at, /*is_method_monitor=*/true);
  }
  if (is_synchronized)
    add(ProbePointKind::kMonitorExit, code.code.size(), /*is_method_monitor=*/true);
}

bool ReleasesAtCatchAll(absl::Span<const ProbePoint> points, const CodeAttribute& code) {
  return !points.empty() && points.back().bci == code.code.size();
}

uint32_t MonitorProbeBci(const ProbePoint& point, const CodeAttribute& code) {
  if (point.kind == ProbePointKind::kMonitorEnter) return point.bci;
  for (const ExceptionRow& row : code.exceptions) {
    const bool covers_itself = row.start <= row.handler && row.handler < row.end;
    if (!covers_itself || point.bci < row.handler || point.bci >= row.end) continue;
    if (const uint32_t after = HandlerProbeBci(row.handler, code); after > point.bci) return after;
  }
  return point.bci;
}

}  // namespace jtrace::classfile
