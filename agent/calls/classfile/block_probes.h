// The counters of a method's blocks (blocks=on): their positions, and the code that counts
// exceptions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "agent/calls/classfile/bytecode_editor.h"
#include "agent/calls/classfile/counter_plan.h"
#include "agent/calls/classfile/probe_bytecode.h"
#include "agent/calls/classfile/stack_map.h"
#include "common/classfile/class_file.h"
#include "common/classfile/code_attribute.h"
#include "common/classfile/flow_graph.h"

namespace jtrace::classfile {

// What BlockProbes::Plan reads of a method. BlockProbes keeps no reference to it.
struct BlockInput {
  const ClassFile& file;
  const MethodInfo& method;
  const CodeAttribute& code;
  const BytecodeEditor& editor;  // has scanned `code`
  const StackMapContext& frames;
  Bytes stack_map;            // body of the StackMapTable; empty: there is none
  bool needs_frames = false;  // the JVM verifies this class with StackMapTables
  bool count_entry = false;   // the method's entry gets a counter (PlanCounters)
  bool by_path = false;       // counts belong to the current tree node
  uint32_t rethrow_size = 1;  // bytes of ProbeBytecode::rethrow
};

// Plans and writes the counters of one method at a time, for the methods of one class.
//
// A block's counter is at its first instruction. A fall-through edge's counter is at the edge's
// target. Exceptions are counted on their way to a handler: each instruction that may throw gets
// its own row of the exception table, before all others, that leads to code after the method's:
//
//     push id of the first; goto tail       one entry for each instruction
//     push id of the second
//     tail: invokestatic hit(I)V; athrow    covered by the original handlers
//
// Instructions with the same handlers share a tail. Code that throws nothing runs no more than
// before. A tail rethrows even if the catch-all follows it directly: C1 does not compile a method
// in which a handler can also be reached without an exception.
// Exceptions are not counted in a constructor before super(…), nor if the handlers' frames have no
// common frame that is known without loading classes. A block ends after the instruction instead.
class BlockProbes {
 public:
  // Chooses the counters. False: the method's blocks cannot be counted.
  bool Plan(const BlockInput& input, ConstantPoolBuilder& pool);

  // Ascending by bci.
  absl::Span<const CounterPosition> positions() const { return plan_.positions; }
  const CounterPlan& plan() const { return plan_; }
  // Whether the counters need the method's own tree node as the current one, so that it cannot be a
  // leaf (CallsNothing). Counters of exceptions find a leaf's node, slowly: exceptions are rare.
  bool needs_activation() const { return by_path_ && plan_.counters > plan_.throws; }
  // Calls f(bci, whether jumps to `bci` skip the counter, index into positions()) for each counter
  // in the method's own code.
  void ForEachInsertion(absl::FunctionRef<void(uint32_t, bool, uint32_t)> f) const;

  // Bytes of the tails after the method's own code. The catch-all, if any, follows them directly.
  uint32_t tail_size() const;
  // Appends the tails. Calls on_id(index into positions(), offset in the tails) for each pushed id.
  void WriteTails(const ProbeBytecode& probes, ByteWriter& out,
                  absl::FunctionRef<void(uint32_t, size_t)> on_id) const;
  // The exception table rows that are added: WriteFirstRows writes those before the method's own,
  // WriteLastRows those after them. `begin`: position of the tails.
  size_t rows(bool catch_all) const;
  void WriteFirstRows(const BytecodeEditor& editor, uint32_t begin, ByteWriter& out) const;
  void WriteLastRows(const BytecodeEditor& editor, uint32_t begin, bool catch_all,
                     ByteWriter& out) const;
  // Appends the frames of the tails. `throwable`: the index of that class in the constant pool.
  void AddFrames(uint32_t begin, uint16_t throwable, std::vector<AddedFrame>& frames) const;

 private:
  // Instructions with the same handlers, which share a tail.
  struct Group {
    std::vector<ExceptionRow> rows;        // the method's own rows that cover them
    std::vector<VerificationType> locals;  // of the tail's frames
    std::vector<uint32_t> points;          // bcis of the instructions
    std::vector<uint32_t> counters;        // of each point: index into positions()
  };
  struct HandlerLocals {
    uint32_t bci;
    std::vector<VerificationType> locals;
  };

  bool ReadHandlerLocals(const BlockInput& input, ConstantPoolBuilder& pool);
  bool CheckHandlers(const BlockInput& input, const FlowGraph& graph);
  bool AddToGroup(const BlockInput& input, uint32_t point);
  std::optional<std::vector<VerificationType>> LocalsFor(const BlockInput& input,
                                                         absl::Span<const ExceptionRow> rows) const;
  void IndexCounters();
  // Bytes of a group's code.
  uint32_t SizeOf(const Group& group) const;
  // Calls f(group, position of its code), in the order of the code.
  void ForEachGroup(uint32_t begin, absl::FunctionRef<void(const Group&, uint32_t)> f) const;

  CounterPlan plan_;
  bool by_path_ = false;
  uint32_t throw_size_ = 1;
  std::vector<Group> groups_;
  std::vector<HandlerLocals> handler_locals_;
  std::vector<uint32_t> points_;
  // Handlers, and the bcis before which the counters of their blocks go.
  std::vector<std::pair<uint32_t, uint32_t>> handler_positions_;
};

// Returns the weakest locals assignable to both. None: only the class hierarchy could show.
std::optional<std::vector<VerificationType>> CommonLocals(absl::Span<const VerificationType> a,
                                                          absl::Span<const VerificationType> b,
                                                          const ConstantPool& pool);

}  // namespace jtrace::classfile
