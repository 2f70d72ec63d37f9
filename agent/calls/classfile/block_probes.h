// The counters of a method's blocks (blocks=on): their positions, and the code that counts
// exceptions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "agent/calls/classfile/code_editor.h"
#include "agent/calls/classfile/counter_plan.h"
#include "agent/calls/classfile/probe_code.h"
#include "agent/calls/classfile/stack_map.h"
#include "common/classfile/class_file.h"
#include "common/classfile/code_attribute.h"
#include "common/classfile/flow_graph.h"

namespace jtrace::classfile {

// What of a method BlockProbes depends on. All of it must outlive the object's use.
struct BlockInput {
  const ClassFile& file;
  const MethodInfo& method;
  const CodeAttribute& code;
  const CodeEditor& editor;  // has scanned `code`
  const StackMapContext& frames;
  Bytes stack_map;            // the body of its attribute
  bool needs_frames = false;  // the JVM verifies with frames
  bool count_entry = false;   // its calls are not known otherwise
  bool by_path = false;       // counts belong to the current activation
  uint32_t throw_size = 1;    // bytes of ProbeCode::rethrow
};

// For the methods of one class, one after the other.
//
// Blocks are counted where they begin, edges that need no jump where they arrive. Exceptions are
// counted on their way: each instruction that may throw has a row of the exception table of its
// own, before all others, that leads to code after the method's:
//
//     push id of the first; goto tail       a handler each, at the end of the method
//     push id of the second
//     tail: invokestatic hit(I)V; athrow    where the handlers of the original cover it
//
// Instructions with the same handlers share a tail; nothing is added where no exception passes. A
// tail throws also where the catch-all is next: C1 compiles no method in which a handler is reached
// without an exception, too.
// In a constructor before super(…), and where two handlers' frames have no common one that is
// known without the classes, a block ends after the instruction instead.
class BlockProbes {
 public:
  // False: the blocks cannot be counted.
  bool Plan(const BlockInput& input, ConstantPoolBuilder& pool);

  // Ascending by bci.
  absl::Span<const CounterPosition> positions() const { return plan_.positions; }
  const CounterPlan& plan() const { return plan_; }
  // Its activations must be entered. That of a leaf (CallsNothing) is found without that, but
  // slowly: exceptions are rare.
  bool needs_activation() const { return by_path_ && plan_.counters > plan_.throws; }
  // Calls f(bci, whether jumps to there pass it, index of the position) for the counters in the
  // method's own code.
  void ForEachInsertion(absl::FunctionRef<void(uint32_t, bool, uint32_t)> f) const;

  // The bytes after the method's own code; the catch-all follows them directly if there is one.
  uint32_t tail_size() const;
  // Appends them. on_id(index of the position, position from the first byte appended).
  void WriteTails(const ProbeCode& probes, ByteWriter& out,
                  absl::FunctionRef<void(uint32_t, size_t)> on_id) const;
  // Rows of the exception table: those before the method's, and those after them.
  size_t rows(bool catch_all) const;
  void WriteFirstRows(const CodeEditor& editor, uint32_t begin, ByteWriter& out) const;
  void WriteLastRows(const CodeEditor& editor, uint32_t begin, bool catch_all,
                     ByteWriter& out) const;
  // The frames of that code, which begins at `begin`.
  void AddFrames(uint32_t begin, uint16_t throwable, std::vector<AddedFrame>& frames) const;

 private:
  // Instructions with the same handlers.
  struct Group {
    std::vector<ExceptionRow> rows;  // of the original that cover them
    std::vector<VerificationType> locals;
    std::vector<uint32_t> points;
    std::vector<uint32_t> counters;  // indexes of their positions
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
  // By handler: where its block is counted.
  std::vector<std::pair<uint32_t, uint32_t>> handler_positions_;
};

// The frame that fits wherever both do; none: it is not known without the classes.
std::optional<std::vector<VerificationType>> CommonLocals(absl::Span<const VerificationType> a,
                                                          absl::Span<const VerificationType> b,
                                                          const ConstantPool& pool);

}  // namespace jtrace::classfile
