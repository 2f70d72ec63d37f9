// The types of a recording: every recording describes those it uses, by names that readers know
// from the JDK (its metadata.xml).
#pragma once

#include <cstdint>
#include <string>

namespace jtrace::postproc::jfr {

// Numbers of types. Any would do, except the first two, which the format reserves.
enum TypeId : uint32_t {
  kMetadata = 0,
  kCheckpoint = 1,
  kBoolean = 4,
  kInt = 5,
  kLong = 6,
  kString = 7,
  kClass = 20,
  kThread,
  kThreadGroup,
  kClassLoader,
  kPackage,
  kModule,
  kSymbol,
  kMethod,
  kFrameType,
  kThreadState,
  kStackFrame,
  kStackTrace,
  kLabel = 60,
  kTimestamp,
  kTimespan,
  kExecutionSample = 100,
  kNativeMethodSample,
  kThreadStart,
  kThreadEnd,
  kJvmInformation,
  kActiveRecording,
  kActiveSetting,
};

// The event that describes all of them. `time`: in nanoseconds since 1970.
std::string MetadataEvent(int64_t time);

}  // namespace jtrace::postproc::jfr
