// The branches before the names of a tree's nodes: three columns a level, then one, then the level
// as a number, so that names keep their room.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace jtrace::postproc {

// Blanks in place of branches, in a line of `width` columns (0: no limit): two a level, then one,
// then the level as a number.
std::string IndentOf(size_t level, int width);

class TreeBranches {
 public:
  // `room`: columns for branches and name; 0: no limit.
  explicit TreeBranches(int room);

  // The branch of the next line, whose level is at most one more than the line's before it.
  std::string Next(size_t level, bool is_last);

 private:
  size_t columns_ = 0;   // for branches; 0: no limit
  size_t wide_levels_;   // of three columns
  size_t drawn_levels_;  // deeper ones have a number
  std::string above_;    // the lines that go on past the last drawn line, for what is below it
  std::vector<size_t> ends_ = {0};  // of its part for each level, from 0
};

}  // namespace jtrace::postproc
