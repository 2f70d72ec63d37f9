// Records of compiled methods and of the JVM's stubs.
#pragma once

#include "agent/options/options.h"
#include "agent/recording/compiled_code_reports.h"
#include "agent/recording/jvm_state.h"
#include "agent/recording/recording_part.h"

namespace jtrace {

class CompiledCodePart : public RecordingPart {
 public:
  CompiledCodePart(JvmState& jvm, CompiledCodeReports& reports, const Options& options)
      : jvm_(jvm), reports_(reports), options_(options) {}

  void Listen(JNIEnv* jni) override;
  void AddExisting(JNIEnv* jni) override;
  void StopListening() override;

  // Requests the reports again when all classes have their probes, because methods may have been
  // compiled before they had numbers.
  void ReportCompiledMethods() { reports_.ReportExisting(); }
  // Adds records of compiled code from now on, unless codes= leaves them out. They name the callers
  // of hooks that are added to a running recording. On a Java thread.
  void RequestCodeRecords();

 private:
  JvmState& jvm_;
  CompiledCodeReports& reports_;
  const Options& options_;
};

}  // namespace jtrace
