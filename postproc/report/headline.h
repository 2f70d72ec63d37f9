// The answer of the first screen: where the measure went, and the program's heaviest code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "postproc/report/report.h"

namespace jtrace::postproc {

// Who used the processor. The first ones are in the program's threads.
enum class Consumer : uint8_t {
  kProgram,  // methods in scope
  kJdk,      // other Java methods
  kJtrace,   // its probes, and the agent's own threads
  kNative,
  kVm,
  kKernel,
  kUnknown,  // markers such as [unmatched]
  kJit,      // the JVM's threads
  kCollector,
  kOtherThreads,
};
inline constexpr size_t kConsumers = static_cast<size_t>(Consumer::kOtherThreads) + 1;
// "program", "jdk", …: for tables.
std::string_view ConsumerName(Consumer consumer);
// Whose thread that is: the program's, or one of the JVM's or jtrace's. `has_events`: it made calls
// that were counted.
Consumer ConsumerOfThread(const ThreadInfo& thread, bool has_events);
Consumer ConsumerOfTree(const ReportInput& input, NodeId root);
inline bool IsOfProgram(Consumer consumer) { return consumer < Consumer::kJit; }

// What a consumer used, and its greatest parts: packages of Java code, modules of native code.
struct Consumption {
  struct Part {
    std::string name;
    int64_t amount = 0;
  };
  int64_t amount = 0;
  std::vector<Part> parts;  // most first
};

// A method of the program, with what it used itself and through code that is not the program's.
struct HeavyMethod {
  RoutineId routine;
  int64_t own = 0;
  int64_t calls = 0;
  // What it calls that is not the program's and uses most, if anything.
  RoutineId callee = RoutineId();
  int64_t of_callee = 0;
  // The program's methods above it on its heaviest path, the nearest first; none twice in a row.
  std::vector<RoutineId> callers;
};

struct Headline {
  Consumption consumers[kConsumers];
  std::vector<HeavyMethod> heaviest;     // by `own`
  std::vector<HeavyMethod> most_called;  // by `calls`
  std::vector<HeavyMethod> allocating;   // by bytes, if they were recorded
};

// `most`: of each list.
Headline MakeHeadline(const ReportInput& input, size_t most);

// Of the measure in the threads of C1 and of C2, the share that the probes have in the bytecode
// that the compiler compiled, each inlined copy counted: jtrace's own methods, and what calls them
// in methods in scope. The time of a compilation is taken to grow with its bytecode; code inlined
// without debug information is not seen. 0: no code of probes was compiled, or it is not recorded.
int64_t EstimatedProbeCompilation(const ReportInput& input);

}  // namespace jtrace::postproc
