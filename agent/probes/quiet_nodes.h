// Which nodes of a long tree need not be looked at in this round. On the writer thread only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "agent/hot/layout.h"

namespace jtrace {

// Programs with millions of call paths take most of them for a moment and never again. A thread's
// nodes are in a list in order of creation; it is divided into stretches of nodes that were made
// after one another. A stretch in which nothing changed is looked at again after two rounds, then
// after four, then always after eight.
struct QuietNodes {
  static constexpr uint32_t kStretch = 64;

  struct Stretch {
    hot::Ref last;   // its last node
    uint32_t bytes;  // that it was counted as
    uint8_t quiet;   // looks in a row without a change, up to kMostQuiet
    uint8_t rest;    // rounds to leave out

    void Looked(bool changed) {
      constexpr uint8_t kMostQuiet = 3;
      quiet = changed ? 0 : std::min<uint8_t>(quiet + 1, kMostQuiet);
      rest = static_cast<uint8_t>((1 << quiet) - 1);
    }
  };
  std::vector<Stretch> stretches;  // of the list's begin
};

}  // namespace jtrace
