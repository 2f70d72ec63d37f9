// probes=resting: in a JVM that serves, classes get their probes as they are loaded; these rest
// until a recording begins that they fit. Such a start changes no class, so no compiled code is
// lost: the program keeps its speed.
//
// Made once, at VMInit, and never freed, like JvmParts. Threads: those of a start and a stop, but
// Rewrite.
#pragma once

#include <jvmti.h>

#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "agent/calls/instrument/instrumentation.h"
#include "agent/options/options.h"
#include "agent/recording/jvm_parts.h"
#include "agent/recording/probed_classes.h"

namespace jtrace {

class RestingProbes {
 public:
  // On a Java thread in VMInit, before the program's classes are loaded. Errors: see
  // ProbeSets::Use, ProbedClasses::Create.
  static absl::StatusOr<RestingProbes*> Begin(JvmParts& jvm, JNIEnv* jni, const Options& options);

  // Why a recording with these options cannot use the probes: the option that differs. "": it can;
  // without a scope or memory of its own, it takes those of `options()`.
  std::string WhyNot(const Options& wanted) const;
  // The classes of such a recording.
  std::unique_ptr<ProbedClasses> Lend(const Options& wanted);
  // Its trace has what is known of the probes from BeginTrace to EndTrace, which may come alone.
  void BeginTrace();
  void EndTrace();
  const Options& options() const { return options_; }

  // Like Instrumentation::Rewrite, while no recording rewrites classes. Any Java thread.
  // Leaves numbers to recordings.
  std::span<unsigned char> Rewrite(const char* name, jobject loader,
                                   std::span<const unsigned char> bytes);
  calls::Instrumentation& instrumentation() { return classes_->instrumentation(); }
  size_t classes() const { return classes_->instrumentation().rewritten_count(); }

 private:
  RestingProbes(JvmParts& jvm, const Options& options) : jvm_(jvm), options_(options) {}
  absl::Status Start(JNIEnv* jni);
  // Without it samples are less exact, as after an attach.
  void KeepDebugInfo(JNIEnv* jni);

  JvmParts& jvm_;
  Options options_;
  std::unique_ptr<ProbedClasses> classes_;
};

}  // namespace jtrace
