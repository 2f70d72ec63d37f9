// Compares sampled chains with the call path that the program itself publishes.
#ifndef JTRACE_JAVA_TESTS_WALKER_PATH_CHECK_H_
#define JTRACE_JAVA_TESTS_WALKER_PATH_CHECK_H_

#include <jni.h>

#include <cstdint>
#include <string>

#include "agent/hot/position.h"
#include "agent/hot/sample_record.h"

namespace jtrace::walker_test {

// A path of calls of four methods: a leading 1 bit, then two bits a call, outermost first. Fits 31
// calls. PathCheck.java stores the running path in a direct buffer; a sample's "tree position" is
// what stood there when it was taken.
class PathChecker {
 public:
  // methods: the jmethodIDs of the four methods.
  void Register(const uint64_t* buffer, const jmethodID methods[4]);

  // Empty if the sample was not taken on the publishing thread, or if its frames fit the published
  // path: all calls of the frames behind the interrupted one (whose debug information is exact)
  // must be there. In the interrupted one, the compilers' debug information tells inlined methods
  // only roughly: if the calls there are not the published ones, give or take the one that is just
  // being entered or left, the sample counts as inexact.
  std::string Check(const hot::SampleView& sample);

  // At most these percentages of the samples may be inexact, and differ from the published path at
  // all: those that were taken between a call and its publication do.
  bool Ok(double max_inexact, double max_unequal) const;
  std::string Summary() const;

 private:
  // The path that the frames from index `from` on spell.
  uint64_t Spell(const hot::SampleView& sample, uint32_t from) const;

  bool registered_ = false;
  uint64_t methods_[4] = {};
  uint64_t checked_ = 0, equal_ = 0, inexact_ = 0, mismatches_ = 0;
};

// The agent's; null if the library was loaded for its native methods only.
PathChecker* Paths();

// The sampler's PositionReader: node is the published path.
hot::Position ReadPublishedPath(uint64_t java_tid);

}  // namespace jtrace::walker_test

#endif  // JTRACE_JAVA_TESTS_WALKER_PATH_CHECK_H_
