// The first record of a trace file: which agent, JVM, program and options it is of.
#pragma once

#include <string>

#include "agent/options/options.h"
#include "agent/recording/jvm_state.h"
#include "proto/trace.pb.h"

namespace jtrace {

// The program that the JVM runs.
struct Program {
  std::string jvm;
  std::string command;
};
// Asks the JVM. On a Java thread.
Program ProgramOf(jvmtiEnv* env);

// Returns what does not depend on the parts of the recording. Any thread.
proto::SessionStart DescribeSession(const JvmState& jvm, const Options& options,
                                    const Program& program);

}  // namespace jtrace
