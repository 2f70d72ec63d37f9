// Writes a method with the probes that were planned for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "agent/calls/classfile/probe_code.h"
#include "agent/calls/classfile/probe_planner.h"
#include "agent/calls/classfile/reason.h"
#include "agent/calls/classfile/stack_map.h"
#include "common/classfile/class_file.h"
#include "common/classfile/code_attribute.h"

namespace jtrace::classfile {

inline constexpr uint16_t kFirstMajorWithStackMaps = 50;  // JVMS 4.7.4

int SlotsOf(TokenKind token);

// Where a method that was written pushes ids, which are set when they are known: positions in the
// bytes, with indexes as in ProbePlan::Role where there are several ids.
struct IdPositions {
  using Indexed = std::vector<std::pair<uint32_t, size_t>>;
  std::vector<size_t> method;  // its own
  std::vector<size_t> unwind;  // the same id
  Indexed points;
  Indexed counters;
  Indexed call_sites;

  void Clear();
};

// For the methods of one class, one after the other, with the same buffers.
class MethodWriter {
 public:
  MethodWriter(const ClassFile& file, const ProbeSpec& spec, const ProbeConstants& constants,
               ConstantPoolBuilder& pool)
      : file_(file), spec_(spec), constants_(constants), pool_(pool) {}

  // Appends the method to `out`, and fills in `ids`. For a reason other than kNone, what was
  // appended is to be truncated.
  Reason Write(const PlannedMethod& method, const ProbeCode& probes, ByteWriter& out,
               IdPositions& ids);

  // The frames at the method's own begin, with the token that was planned.
  StackMapContext FrameContext(const PlannedMethod& method) const;

 private:
  int MaxStack(const PlannedMethod& method) const;
  void WriteCode(const PlannedMethod& method, const ProbeCode& probes, ByteWriter& out,
                 IdPositions& ids) const;
  Reason WriteExceptions(const PlannedMethod& method, ByteWriter& out) const;
  Reason WriteTables(const PlannedMethod& method, ByteWriter& out);
  Reason WriteStackMap(const PlannedMethod& method, const CodeSubAttribute* old, ByteWriter& out);

  const ClassFile& file_;
  const ProbeSpec& spec_;
  const ProbeConstants& constants_;
  ConstantPoolBuilder& pool_;
  StackMapRewriter stack_map_;
};

}  // namespace jtrace::classfile
