// The result of a run of one thread's entries and exits, made without knowing what was open before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "postproc/model/ids.h"

namespace jtrace::postproc {

// The tree of the run, with the values that each node got in it. Activations that were open when it
// began are nodes without a parent, the innermost first. The run assumes that its exits end them
// one after the other; the owner of the tree checks that by `outside` and their routines. If it
// holds, the run changes the tree as its single calls would.
struct ReducedCalls {
  static constexpr uint32_t kNoNode = std::numeric_limits<uint32_t>::max();

  // In the order of their first entry; fills a cache line.
  struct alignas(64) Node {
    RoutineId routine;                // of an outside node: of the exit that ended it, if one did
    uint32_t parent = kNoNode;        // index of a node before it; kNoNode: an outside node
    uint32_t recent_child = kNoNode;  // guesses at the next call, like those of the CallTree
    uint32_t follower = kNoNode;
    int64_t calls = 0;
    int64_t calls_jitted = 0;
    int64_t base = 0;
    // Of the activations that began and ended in the run; min > max if there are none.
    int64_t min_base = std::numeric_limits<int64_t>::max();
    int64_t max_base = std::numeric_limits<int64_t>::min();
  };
  // An activation open at the end.
  struct Open {
    uint32_t node = 0;
    int64_t base = 0;  // so far, in the run
  };

  int64_t first_time = 0;
  int64_t last_time = 0;
  int64_t enters[2] = {};  // interpreted, jitted
  int64_t exits[2] = {};
  std::vector<Node> nodes;
  // Outside nodes, innermost first: all but the last were ended.
  std::vector<uint32_t> outside;
  std::vector<Open> open;  // that began in the run, outermost first

  int64_t calls() const { return enters[0] + enters[1] + exits[0] + exits[1]; }
};

}  // namespace jtrace::postproc
