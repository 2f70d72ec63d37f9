// Who needs the JVM's reports of compiled methods.
#pragma once

namespace jtrace::sampling {

class CodeReader {
 public:
  virtual ~CodeReader() = default;

  // Whether reports of compiled methods are still needed. Any thread.
  virtual bool NeedsCompiledCode() const = 0;
  // Makes the JVM keep debug information for each instruction while no reports of compiled methods
  // are requested, which has the same effect. False: this JVM needs the reports.
  virtual bool KeepDebugInfo() = 0;
  // Ends that.
  virtual void StopKeepingDebugInfo() = 0;
};

}  // namespace jtrace::sampling
