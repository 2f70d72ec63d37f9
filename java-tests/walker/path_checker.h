// Compares sampled chains with the call path that the program itself publishes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agent/samples/handler/sample_record.h"

namespace jtrace::walker_test {

// A path of calls of four methods: a leading 1 bit, then two bits a call, outermost first. Fits 31
// calls. PathCheck.java stores the running path in a direct buffer; a sample's "tree position" is
// the buffer's value when it was taken.
class PathChecker {
 public:
  // methods: the jmethodIDs of the four methods; leaves: of methods that call none of them, not
  // even inlined.
  void Register(const uint64_t (&methods)[4], std::vector<uint64_t> leaves);

  // Empty if the sample was not taken on the publishing thread, or if its frames fit the published
  // path. They are the published ones, give or take the one that is just being entered or left:
  // - All of them, where the interrupted frame is described exactly: where it is not one of a
  //   compiled method that may hold more calls than the compilers' debug information gives there.
  // - Else the path begins with the callers of the interrupted frame and the method that it was
  //   compiled for; if the methods reported as inlined there are not the rest of it, the sample
  //   counts as inexact.
  std::string Check(const samples::SampleView& sample);

  // At most these percentages of the samples may be inexact, and differ from the published path at
  // all: those that were taken between a call and its publication do.
  bool Ok(double max_inexact, double max_unequal) const;
  std::string Summary() const;

  uint64_t inexact() const { return inexact_; }

 private:
  // The path that the frames from index `from` on spell.
  uint64_t Spell(const samples::SampleView& sample, uint32_t from) const;
  bool MayHoldMore(const samples::Frame& frame) const;

  bool registered_ = false;
  uint64_t methods_[4] = {};
  std::vector<uint64_t> leaves_;
  uint64_t checked_ = 0, equal_ = 0, inexact_ = 0, mismatches_ = 0;
};

}  // namespace jtrace::walker_test
