// probes=resting: in a JVM that serves, classes get their probes as they are loaded. The probes
// count nothing (they rest) until a recording begins whose options they fit. Such a start changes
// no class, so no compiled code is lost and the program keeps its speed.
//
// Made once, at VMInit, and never freed, like AgentState. Threads: Rewrite on any Java thread; the
// rest on that of a start or a stop.
#pragma once

#include <jvmti.h>

#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "agent/calls/instrument/instrumentation.h"
#include "agent/options/options.h"
#include "agent/recording/agent_state.h"
#include "agent/recording/probed_classes.h"

namespace jtrace {

class RestingProbes {
 public:
  // On a Java thread in VMInit, before the program's classes are loaded. Errors: see
  // ProbeSets::FindOrDefine, ProbedClasses::Create.
  static absl::StatusOr<RestingProbes*> Begin(AgentState& agent, JNIEnv* jni,
                                              const Options& options);

  // Returns the option because of which a recording cannot use the probes; "": it can.
  std::string WhyNot(const Options& wanted) const;
  // Sets Options::probes_rest of a recording. If it can use the probes, it has their scope and
  // memory.
  void FitOptions(Options& wanted) const;
  // Returns the classes of a recording that uses the probes.
  std::unique_ptr<ProbedClasses> ShareClasses(const Options& wanted);
  // Between these, the recording's trace gets what is known of the probes. EndTrace may come alone.
  void BeginTrace();
  void EndTrace();
  const Options& options() const { return options_; }

  // Like Instrumentation::Rewrite, while no recording rewrites classes. Any Java thread. Rewrites
  // nothing once half of all routine numbers are used: the others are for recordings.
  std::span<unsigned char> Rewrite(const char* name, jobject loader,
                                   std::span<const unsigned char> bytes);
  calls::Instrumentation& instrumentation() { return classes_->instrumentation(); }
  size_t classes() const { return classes_->instrumentation().rewritten_count(); }

 private:
  RestingProbes(JvmState& jvm, ProbeState& probes, const Options& options)
      : jvm_(jvm), probe_state_(probes), options_(options) {}
  absl::Status Start(JNIEnv* jni);
  // Lets the JVM keep debug information, without which samples are less exact (as after an attach).
  void KeepDebugInfo(JNIEnv* jni, CompiledCodeReports& reports);

  JvmState& jvm_;
  ProbeState& probe_state_;
  Options options_;
  std::unique_ptr<ProbedClasses> classes_;
};

}  // namespace jtrace
