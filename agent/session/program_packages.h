// Chooses what `include=own` counts in this JVM.
#pragma once

#include <jvmti.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/calls/instrument/program_scope.h"
#include "agent/options/options.h"
#include "agent/recording/agent_state.h"
#include "agent/session/command_context.h"
#include "common/scope_filter.h"

namespace jtrace {

class ProgramPackages {
 public:
  // Returns nullopt if no choice is needed: without include=own, if probes of all classes are
  // cheap, or if the resting probes fit. Then everything in scope is counted. Takes include=own out
  // of `options`. On a Java thread, while no class changes.
  static std::optional<ProgramPackages> Wanted(AgentState& agent, JNIEnv* jni, Options& options);

  // Returns the patterns of include=. Reads the stacks of all platform threads for a second, while
  // the caller serves questions; once if the caller cannot wait. Reports what it chose and what
  // everything would cost. On the same thread, without locks.
  std::vector<std::string> Choose(const CommandContext& context) const;

 private:
  ProgramPackages(jvmtiEnv* env, JNIEnv* jni, classfile::ScopeFilter filter,
                  std::vector<calls::ClassToProbe> classes)
      : env_(env), jni_(jni), filter_(std::move(filter)), classes_(std::move(classes)) {}

  jvmtiEnv* env_;
  JNIEnv* jni_;
  classfile::ScopeFilter filter_;
  std::vector<calls::ClassToProbe> classes_;  // loaded and in scope
};

}  // namespace jtrace
