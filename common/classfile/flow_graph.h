// The basic blocks of a method's bytecode, and how control flows between them.
//
// Agent and post-processor make the same graph of the same bytes: the agent places counters in it,
// the post-processor derives the counts of everything else.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "common/classfile/code_attribute.h"

namespace jtrace::classfile {

// How control leaves a block for another, or for the caller.
enum class EdgeKind : uint8_t {
  kEntry,    // from outside: the method is called
  kHandler,  // from outside: an exception reaches its handler
  kFall,     // to the next instruction, without a jump
  kJump,     // by a jump or switch; where both lead to the same place, kJump
  kReturn,   // to outside
  kThrow,    // to outside: an exception leaves the block
};

// A counter of a method, at a place of its code as it was before rewriting.
enum class CounterKind : uint8_t {
  kBlock,  // executions of the block that begins at the bci
  kFall,   // arrivals at the bci from the instruction before it
  kThrow,  // exceptions that left the instruction at the bci
  kSplit,  // no counter: a block ends after the instruction at the bci
};
struct CounterPosition {
  CounterKind kind = CounterKind::kBlock;
  uint16_t bci = 0;
  friend bool operator==(const CounterPosition&, const CounterPosition&) = default;
};
inline bool IsCounter(const CounterPosition& place) { return place.kind != CounterKind::kSplit; }
// The order of a method's places.
inline bool Before(const CounterPosition& a, const CounterPosition& b) {
  return a.bci != b.bci ? a.bci < b.bci : a.kind < b.kind;
}

struct FlowGraph {
  // The node of everything outside of the method: callers, and exceptions on their way.
  static constexpr uint32_t kOutside = 0;

  // Node n > 0 is the block blocks[n - 1]. It ends at a jump, a return, a throw, before another
  // block, or after an instruction of `splits`.
  struct Block {
    uint32_t begin = 0;
    uint32_t end = 0;
    uint32_t last = 0;  // bci of its last instruction
    bool is_handler = false;
    bool falls = false;  // its last instruction may continue at `end`
  };
  // Between two nodes there is at most one edge of kinds kFall and kJump, and one of each other
  // kind.
  struct Edge {
    uint32_t from = kOutside;
    uint32_t to = kOutside;
    EdgeKind kind = EdgeKind::kFall;
  };
  std::vector<Block> blocks;  // in the order of their bcis; they cover the code
  std::vector<Edge> edges;    // kEntry is the first

  // The node of the block with the instruction at `bci`.
  uint32_t NodeOf(uint32_t bci) const;
  const Block& block(uint32_t node) const { return blocks[node - 1]; }
  // Where executions of the edge alone can be counted: only if it needs no jump.
  std::optional<CounterPosition> PositionOf(const Edge& edge) const;
};

// `splits`: instructions after which a block ends although control goes on: those that may throw
// where exceptions cannot be counted. Ascending.
// None: not valid code, or it uses jsr and ret (before Java 6), whose flow is not known.
std::optional<FlowGraph> MakeFlowGraph(const CodeAttribute& code,
                                       absl::Span<const uint32_t> splits);

}  // namespace jtrace::classfile
