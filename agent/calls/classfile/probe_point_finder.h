// Finds the probe points in the methods of one class.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "agent/calls/classfile/bytecode_editor.h"
#include "agent/calls/classfile/probe_bytecode.h"
#include "agent/calls/classfile/probe_point.h"
#include "common/classfile/class_file.h"
#include "common/classfile/code_attribute.h"
#include "common/scope_filter.h"

namespace jtrace::classfile {

// A point in a method's code.
struct ProbePoint {
  ProbePointKind kind = ProbePointKind::kCall;
  uint32_t bci = 0;
  // Index in the constant pool. kCall, kNative: the Methodref. kThrown, kCaught: the Class, or the
  // Methodref of what made the exception; 0: unknown, counted as java/lang/Throwable.
  uint16_t constant = 0;
  CallProbe probe = CallProbe::kUsual;
  bool is_method_monitor = false;  // the monitor that a synchronized method locks
};

// A call leaves the scope if the filter does not include the method that the instruction names. If
// a class names itself but can only inherit the method, the superclass decides.
class ProbePointFinder {
 public:
  ProbePointFinder(const ClassFile& file, const ScopeFilter& filter, const ProbeSpec& spec,
                   ProbeTargets& targets)
      : file_(file), filter_(filter), spec_(spec), targets_(targets) {}

  // Sets `points` to the method's: calls, then thrown, caught, monitors. One bci may have several.
  // Adds the calls that leave the scope but are not points to `left_out`.
  void Find(const MethodInfo& method, const CodeAttribute& code, const BytecodeEditor& editor,
            std::vector<ProbePoint>& points, CallReasonCounts& left_out);

  // Returns the id that the point's probes push: see ProbeTargets.
  uint32_t IdOf(const ProbePoint& point) { return targets_.IdOf(TargetOf(point)); }

 private:
  enum class Verdict : uint8_t {
    kUnknown,
    kNoPoint,
    kLeaves,
    kNative,
    kObjectConstructor,
    kProbe,
    kNotWanted
  };

  ProbeTarget TargetOf(const ProbePoint& point) const;
  Verdict Classify(uint16_t methodref);
  Verdict ClassifyUncached(uint16_t methodref);
  CallProbe ProbeOf(uint16_t methodref);
  bool IsOwnNative(std::string_view name, std::string_view descriptor);
  std::string_view OwnerOf(const ConstantPool::Member& callee) const;
  void FindCalls(const MethodInfo& method, const CodeAttribute& code,
                 std::vector<ProbePoint>& points, CallReasonCounts& left_out);
  void AddCall(uint32_t bci, Bytes code, std::vector<ProbePoint>& points,
               CallReasonCounts& left_out);
  void FindThrown(const CodeAttribute& code, const BytecodeEditor& editor,
                  std::vector<ProbePoint>& points) const;
  void FindCaught(const CodeAttribute& code, const BytecodeEditor& editor,
                  std::vector<ProbePoint>& points) const;

  const ClassFile& file_;
  const ScopeFilter& filter_;
  const ProbeSpec& spec_;
  ProbeTargets& targets_;
  std::vector<Verdict> verdicts_;  // by constant
  std::vector<CallProbe> probes_;  // by constant
};

}  // namespace jtrace::classfile
