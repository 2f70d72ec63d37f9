#pragma once

#include <cstdint>
#include <vector>

#include "agent/classfile/class_file.h"
#include "agent/classfile/code_attribute.h"
#include "agent/classfile/code_editor.h"
#include "agent/classfile/probe_code.h"
#include "agent/classfile/probe_planner.h"
#include "agent/classfile/probe_spec.h"
#include "agent/classfile/reason.h"
#include "agent/classfile/stack_map.h"

namespace jtrace::classfile {

/// Rewrites the methods of one class, one after the other, with the same buffers.
class MethodRewriter {
 public:
  MethodRewriter(const ClassFile& file, const ProbeSpec& spec, ConstantPoolBuilder& pool)
      : file_(file), spec_(spec), pool_(pool) {}

  /// Appends the method with its probes to `out`, ids still to be put in by SetId. On a reason
  /// whose effect is kUntouched `out` is as it was.
  Reason Rewrite(const MethodInfo& method, ByteWriter& out);

  /// Whether the method that Rewrite appended last only counts (ProbeSpec::leaf).
  bool is_leaf() const { return plan_.kinds.front() == ProbePlan::Kind::kLeaf; }

  /// Puts the id into the method that Rewrite appended last.
  void SetId(uint32_t id, ByteWriter& out) const;

 private:
  Reason Prepare(const MethodInfo& method);
  Reason PlanWithinLimits(const MethodInfo& method, const ProbeCode& probes);
  Reason WriteMethod(const MethodInfo& method, const ProbeCode& probes, ByteWriter& out);
  void WriteCode(const ProbeCode& probes, ByteWriter& out);
  Reason WriteExceptions(ByteWriter& out) const;
  Reason WriteTables(const MethodInfo& method, ByteWriter& out);
  Reason WriteStackMap(const MethodInfo& method, const CodeSubAttribute* old, ByteWriter& out);
  uint32_t NewSize(const ProbeCode& probes) const;

  const ClassFile& file_;
  const ProbeSpec& spec_;
  ConstantPoolBuilder& pool_;
  ProbeConstants constants_;
  bool constants_added_ = false;
  CodeAttribute code_;
  CodeEditor editor_;
  ProbePlanner planner_;
  ProbePlan plan_;
  StackMapRewriter stack_map_;
  std::vector<size_t> id_positions_;  // in `out`
};

}  // namespace jtrace::classfile
