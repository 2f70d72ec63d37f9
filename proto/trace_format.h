// The frame level of a trace file; FORMAT.md describes it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace jtrace::format {

// A file starts with kMagic and the format's version (u32, little endian like all numbers here).
inline constexpr std::array<char, 8> kMagic = {'J', 'T', 'R', 'A', 'C', 'E', '\r', '\n'};
inline constexpr uint32_t kVersion = 1;
inline constexpr size_t kFileHeaderSize = kMagic.size() + sizeof(uint32_t);

// Every frame starts with kFrameMark, which lets a reader find the next frame after damage.
inline constexpr uint32_t kFrameMark = 0x4d52464a;  // "JFRM"

// kFrameMark, bytes of the compressed payload, bytes of the payload, CRC-32 (zlib's) of the
// compressed payload: four u32.
inline constexpr size_t kFrameHeaderSize = 4 * sizeof(uint32_t);

// A frame that claims more is damaged.
inline constexpr uint32_t kMaxPayloadSize = 64u << 20;

// Codes of Event.major (S3.1, FIG. 30 and jtrace's own).
enum Major : uint32_t {
  kInterrupt = 0x4,
  kSession = 0x8,
  kThread = 0x10,
  kThreadSwitch = 0x11,
  kClass = 0x20,
  kInterpreted = 0x30,
  kBoundary = 0x31,
  kException = 0x32,
  kNativeHook = 0x33,
  kTimerUnwind = 0x40,
  kInstrumentedUnwind = 0x41,
  kJitted = 0x50,
  kJit = 0x51,
  kGc = 0x60,
  kMonitor = 0x61,
  kPark = 0x62,
  kIo = 0x63,
  kWaited = 0x64,
  kSegment = 0x65,
  kLock = 0x66,
  kAllocation = 0x70,
  kMetric = 0x71,
  kReducedTree = 0x80,
};

// Codes of Event.minor, by major. The end of anything is its begin plus kEnd.
inline constexpr uint32_t kEnd = 0x80000000;
inline constexpr uint32_t kSessionInitialised = 0x1;
inline constexpr uint32_t kSessionLoss = 0x2;
inline constexpr uint32_t kSessionMark = 0x3;
inline constexpr uint32_t kSwitchOn = 0x1;
inline constexpr uint32_t kThreadUnnamed = 0xab;
inline constexpr uint32_t kThreadIdle = 0xac;
inline constexpr uint32_t kThreadGc = 0xad;
inline constexpr uint32_t kThreadNamed = 0xae;
inline constexpr uint32_t kClassLoad = 0x1;
inline constexpr uint32_t kClassMethod = 0x2;
inline constexpr uint32_t kJitCode = 0x1;
inline constexpr uint32_t kJitInlining = 0x2;
inline constexpr uint32_t kJitDynamicCode = 0x3;
inline constexpr uint32_t kGcCycle = 0x1;
inline constexpr uint32_t kCall = 0x10;  // of kInterpreted, kJitted and kBoundary
inline constexpr uint32_t kSwitch = 0x1;
inline constexpr uint32_t kMetricEvent = 0x1;
inline constexpr uint32_t kClassPrepare = 0x3;
inline constexpr uint32_t kClassRedefine = 0x4;
inline constexpr uint32_t kClassUnprobed = 0x5;
inline constexpr uint32_t kClassProbed = 0x6;
inline constexpr uint32_t kThrown = 0x1;
inline constexpr uint32_t kCaught = 0x2;
inline constexpr uint32_t kHookCalls = 0x1;
inline constexpr uint32_t kMonitorContended = 0x1;
inline constexpr uint32_t kMonitorWait = 0x2;
inline constexpr uint32_t kParked = 0x1;
inline constexpr uint32_t kIoRead = 0x1;
inline constexpr uint32_t kIoWrite = 0x2;
inline constexpr uint32_t kIoConnect = 0x3;
inline constexpr uint32_t kIoAccept = 0x4;
inline constexpr uint32_t kWaitedMonitor = 0x1;
inline constexpr uint32_t kWaitedObject = 0x2;
inline constexpr uint32_t kWaitedPark = 0x3;
inline constexpr uint32_t kSegmentPair = 0x1;
inline constexpr uint32_t kLockRequest = 0x1;
inline constexpr uint32_t kAllocationSample = 0x1;
inline constexpr uint32_t kEachAllocation = 0x2;
inline constexpr uint32_t kTreeNode = 0x1;
inline constexpr uint32_t kInterruptLevel = 0x1;  // plus the level

// EventLog.op
inline constexpr uint32_t kLogJitted = 0x1;
inline constexpr uint32_t kLogExit = 0x2;
inline constexpr int kLogRoutineShift = 2;
// Without a routine; the next op is the value.
inline constexpr uint32_t kLogPosition = 1;  // number of the thread's node
inline constexpr uint32_t kLogDropped = 2;   // entries and exits that were left out
inline constexpr uint32_t kLogFirstCall = 1u << kLogRoutineShift;

}  // namespace jtrace::format
