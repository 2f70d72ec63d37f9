#include "postproc/report/probe_compilation.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "postproc/report/headline.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

using ByCompiler = std::array<int64_t, JitLog::kCompilers>;

bool IsOfJtrace(std::string_view routine) {
  return routine.starts_with("java.lang.invoke.JTrace") || routine.starts_with("jtrace.");
}

// What a rewritten method has more than before: the calls of the probes, their arguments and an
// exception handler, where there is one return and no call out of scope; but a method keeps its
// own.
int64_t BytesInserted(const JitLog::Copies& copies) {
  constexpr int64_t kInserted = 16;
  return std::min(copies.copies * kInserted, copies.bytecodes - copies.copies);
}

// The amounts of C1's threads and of C2's.
ByCompiler CompilersAmounts(const ReportInput& input) {
  ByCompiler amounts = {};
  for (const NodeId root : input.tree.roots()) {
    if (ConsumerOfTree(input, root) != Consumer::kJit) continue;
    const std::string_view name = input.model.thread(input.tree.node(root).thread).name;
    int64_t& amount = amounts[name.starts_with("C1") ? 0 : 1];
    amount = WrapAdd(amount, input.measure().Cum(root));
  }
  return amounts;
}

}  // namespace

int64_t EstimatedProbeCompilation(const ReportInput& input) {
  ByCompiler all = {};
  ByCompiler of_probes = {};
  for (const auto& [routine, copies] : input.jit.compiled_bytecodes()) {
    const bool is_probe = IsOfJtrace(input.model.RoutineName(routine));
    const bool has_probes = input.model.scope().contains(routine);
    for (size_t i = 0; i < JitLog::kCompilers; ++i) {
      const JitLog::Copies& it = copies[i];
      all[i] = WrapAdd(all[i], it.bytecodes);
      const int64_t own = is_probe ? it.bytecodes : has_probes ? BytesInserted(it) : 0;
      of_probes[i] = WrapAdd(of_probes[i], own);
    }
  }
  if (!input.measure().is_more_than_calls()) return 0;
  const ByCompiler amounts = CompilersAmounts(input);
  double estimate = 0;
  for (size_t i = 0; i < JitLog::kCompilers; ++i) {
    if (all[i] <= 0 || of_probes[i] <= 0 || amounts[i] <= 0) continue;
    estimate += static_cast<double>(amounts[i]) * static_cast<double>(of_probes[i]) /
                static_cast<double>(all[i]);
  }
  return std::llround(estimate);
}

}  // namespace jtrace::postproc
