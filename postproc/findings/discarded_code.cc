// Methods that the JIT compiler compiles again and again, mostly because of deoptimisations.
#include <algorithm>
#include <string>
#include <vector>

#include "postproc/findings/rules.h"
#include "postproc/report/shorten.h"
#include "postproc/report/units.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

constexpr int64_t kLeastDiscarded = 10;     // pieces of code of one method
constexpr double kLeastDiscardedShare = 1;  // percent of the time, in the method
constexpr size_t kMostDiscarded = 3;

bool KnowsCode(const Facts& facts) { return facts.has_time() && !facts.input().jit.empty(); }

void FindDiscardedCode(const Facts& facts, std::vector<Finding>& findings) {
  struct Method {
    RoutineId routine;
    CompiledRoutine code;
  };
  std::vector<Method> methods;
  for (const auto& [routine, code] : facts.input().jit.compiled()) {
    if (code.discarded < kLeastDiscarded || !facts.code().IsProgram(routine)) continue;
    if (facts.ShareOfTime(facts.OwnOf(routine)) >= kLeastDiscardedShare) {
      methods.push_back({routine, code});
    }
  }
  std::sort(methods.begin(), methods.end(), [](const Method& a, const Method& b) {
    return a.code.discarded != b.code.discarded ? a.code.discarded > b.code.discarded
                                                : a.routine.value < b.routine.value;
  });
  if (methods.size() > kMostDiscarded) methods.resize(kMostDiscarded);
  for (const auto& [routine, code] : methods) {
    const int64_t time = facts.OwnOf(routine);
    findings.push_back(
        {.share = facts.ShareOfTime(time),
         .of = ShareOf::kTime,
         .sentence = StrCat("the JVM discarded the compiled code of ", facts.Name(routine), " ",
                            Counted(code.discarded, "time"), ", mostly by deoptimisation"),
         .evidence = StrCat(Counted(code.loads, "piece"), " of code; ", facts.FormatTime(time),
                            " of ", facts.FormatTime(facts.whole_time()), " in the method"),
         .suggestion = "the events jdk.Deoptimization of JFR have the reasons",
         .next = {"--report=jit"}});
  }
}

}  // namespace

const Rule kDiscardedCode = {"discarded-code",
                             "compiled code that the JVM discards and makes again many times",
                             "mode=merged", KnowsCode, FindDiscardedCode};

}  // namespace jtrace::postproc
