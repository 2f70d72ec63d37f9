// Records of compiled methods and of the JVM's stubs.
#pragma once

#include "agent/options/options.h"
#include "agent/recording/jvm_parts.h"
#include "agent/recording/recording_part.h"

namespace jtrace {

class CodePart : public RecordingPart {
 public:
  CodePart(JvmParts& jvm, const Options& options) : jvm_(jvm), options_(options) {}

  void Listen(JNIEnv* jni) override;
  void AddExisting(JNIEnv* jni) override;
  void StopListening() override;

  // All classes have their probes now: methods may have been compiled before their numbers were
  // known.
  void ReportCompiledMethods() { jvm_.code_reports.ReportExisting(); }
  // Hooks are added to a recording that began without them: from now on it has records of compiled
  // code, which name their callers, unless codes= leaves them out. On a thread that the JVM knows.
  void RecordFromNowOn();

 private:
  JvmParts& jvm_;
  const Options& options_;
};

}  // namespace jtrace
