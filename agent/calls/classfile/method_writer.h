// Writes a method with the probes that were planned for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "agent/calls/classfile/probe_bytecode.h"
#include "agent/calls/classfile/probe_planner.h"
#include "agent/calls/classfile/reason.h"
#include "agent/calls/classfile/stack_map.h"
#include "common/classfile/class_file.h"
#include "common/classfile/code_attribute.h"

namespace jtrace::classfile {

inline constexpr uint16_t kFirstMajorWithStackMaps = 50;  // JVMS 4.7.4

// The slots of a local variable that holds the token.
int SlotsOf(TokenKind token);

// The positions in the output where a written method pushes ids, which PutId sets when they are
// known. Indexed: ProbePlan::Role::index, and a position.
struct IdPositions {
  using Indexed = std::vector<std::pair<uint32_t, size_t>>;
  std::vector<size_t> method;  // the method's id
  std::vector<size_t> unwind;  // the method's id, never with kWithoutCallSite
  Indexed points;
  Indexed counters;
  Indexed call_sites;

  void Clear();
};

// Writes the methods of one class, one after the other, with the same buffers.
class MethodWriter {
 public:
  MethodWriter(const ClassFile& file, const ProbeSpec& spec, const ProbePoolIndexes& constants,
               ConstantPoolBuilder& pool)
      : file_(file), spec_(spec), constants_(constants), pool_(pool) {}

  // Appends the method to `out`, and fills in `ids`. If the reason is not kNone, the caller must
  // truncate what was appended.
  Reason Write(const PlannedMethod& method, const ProbeBytecode& probes, ByteWriter& out,
               IdPositions& ids);

  // Returns what the method's frames depend on, with the token of its plan.
  StackMapContext FrameContext(const PlannedMethod& method) const;

 private:
  int MaxStack(const PlannedMethod& method) const;
  void WriteCode(const PlannedMethod& method, const ProbeBytecode& probes, ByteWriter& out,
                 IdPositions& ids) const;
  Reason WriteExceptions(const PlannedMethod& method, ByteWriter& out) const;
  Reason WriteTables(const PlannedMethod& method, ByteWriter& out);
  Reason WriteStackMap(const PlannedMethod& method, const CodeSubAttribute* old, ByteWriter& out);

  const ClassFile& file_;
  const ProbeSpec& spec_;
  const ProbePoolIndexes& constants_;
  ConstantPoolBuilder& pool_;
  StackMapRewriter stack_map_;
};

}  // namespace jtrace::classfile
