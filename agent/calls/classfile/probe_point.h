// Probe points: the calls, exceptions and monitors inside a method that get their own probes.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace jtrace::classfile {

// A point inside a method that gets its own probes, besides the method's entry and exits.
enum class ProbePointKind : uint8_t {
  kCall,          // a call that leaves the instrumented scope (boundary=)
  kNative,        // a call of a native method in scope
  kThrown,        // an `athrow` that does not rethrow
  kCaught,        // a handler that names the class it catches
  kMonitorEnter,  // requests a monitor (monitor_points.h)
  kMonitorExit,   // releases a monitor
};

// The target that a point's probes count. The views live as long as the class bytes.
struct ProbeTarget {
  ProbePointKind kind = ProbePointKind::kCall;
  std::string_view class_name;  // internal form; the callee's, or the exception's
  std::string_view name = {};   // empty for exceptions
  std::string_view descriptor = {};
};

// The probe before a call that leaves the scope, by what its cost depends on (boundary=costs).
enum class CallProbe : uint8_t {
  kUsual,
  kTimed,       // reads the clock
  kElements,    // gets the last argument, an int
  kElementsOf,  // gets the last argument, an array or a String
};
inline constexpr int kCallProbeCount = static_cast<int>(CallProbe::kElementsOf) + 1;

// Returns kElements or kElementsOf, by the last parameter; kUsual if that has no elements.
CallProbe ProbeOfLastArgument(std::string_view descriptor);

// Why a call that leaves the scope has no boundary probes.
enum class CallReason : uint8_t {
  kDynamic,             // invokedynamic: the class file does not say what it calls
  kObjectConstructor,   // Object.<init>: every constructor chain ends in it, and it is empty
  kProbe,               // jtrace's own classes, and those the probes run through
  kNotWanted,           // ProbeTargets::IsWanted returned false
  kGuardedConstructor,  // super(...) inside a try block: the verifier has no state for a probe
  kNoRoom,              // the method or its class would grow beyond a limit
};
inline constexpr int kCallReasonCount = static_cast<int>(CallReason::kNoRoom) + 1;

// A call reason in words.
struct CallReasonInfo {
  std::string_view name;  // stable, for traces and tests
  std::string_view what;  // one clause, no full stop
};
const CallReasonInfo& Describe(CallReason reason);

using CallReasonCounts = std::array<uint32_t, kCallReasonCount>;

// Answers the rewriter's questions about probe points, on the rewriting thread.
class ProbeTargets {
 public:
  virtual ~ProbeTargets() = default;
  // Returns the id that the point's probes push. Called when rewriting the method can no longer
  // fail, once for each kind of point and constant of the class.
  virtual uint32_t IdOf(const ProbeTarget& point) = 0;
  // Whether a method of *another* class in scope is known to be native.
  virtual bool IsNative(const ProbeTarget& callee) = 0;
  // Whether a call that leaves the scope gets probes. Also asked about calls of native methods in
  // scope if the methods of this class get no probes.
  virtual bool IsWanted(const ProbeTarget&) { return true; }
  // Returns the probe before the call; kUsual is used instead if the spec lacks it.
  virtual CallProbe ProbeOf(const ProbeTarget&) { return CallProbe::kUsual; }
};

}  // namespace jtrace::classfile
