// Probes put into the methods of a class, and the sites that got none.
#pragma once

#include <cstdint>

#include "agent/classfile/site.h"

namespace jtrace::classfile {

struct ProbeCounts {
  uint32_t entries = 0;
  uint32_t exits = 0;
  uint32_t resumes = 0;
  uint32_t catch_alls = 0;
  uint32_t leaves = 0;
  uint32_t calls = 0;  // pairs around calls that leave the scope
  uint32_t natives = 0;
  uint32_t exceptions = 0;
  uint32_t blocks = 0;          // blocks of methods whose blocks are counted
  uint32_t block_counters = 0;  // that count them
  uint32_t throw_counters = 0;  // that count exceptions on their way
  uint32_t places = 0;          // changes of the place of calls
  CallReasonCounts calls_left_out = {};
};

}  // namespace jtrace::classfile
