#include "java-tests/walker/path_checker.h"

#include <gtest/gtest.h>

#include <vector>

namespace jtrace::walker_test {
namespace {

using samples::FrameKind;

constexpr uint64_t kA = 0x1000, kB = 0x1008, kC = 0x1010, kD = 0x1018, kWork = 0x2000,
                   kNext = 0x2008, kMain = 0x2010;

// A path as the program spells it.
uint64_t Path(const std::vector<uint64_t>& calls) {
  uint64_t path = 1;
  for (const uint64_t call : calls) path = path << 2 | (call - kA) / 8;
  return path;
}

class PathCheckerTest : public testing::Test {
 protected:
  PathCheckerTest() { checker_.Register({kA, kB, kC, kD}, {kWork}); }

  // Frames leaf first; methods inlined into the interrupted frame are before it.
  bool Fits(const std::vector<uint64_t>& published, FrameKind interrupted,
            const std::vector<uint64_t>& methods, uint32_t inlined = 0) {
    std::vector<samples::Frame> frames;
    for (uint32_t i = 0; i < methods.size(); ++i) {
      const FrameKind kind = i < inlined    ? FrameKind::kInlined
                             : i == inlined ? interrupted
                                            : FrameKind::kCompiled;
      frames.push_back({methods[i], 0, kind, 0, 0});
    }
    samples::SampleHeader header{};
    header.position_known = true;
    header.node = Path(published);
    header.end = samples::ChainEnd::kRoot;
    header.frame_count = static_cast<uint32_t>(frames.size());
    return checker_.Check({header, 0, frames.data()}).empty();
  }
  bool Fits(const std::vector<uint64_t>& published, const std::vector<uint64_t>& methods) {
    return Fits(published, FrameKind::kCompiled, methods);
  }

  PathChecker checker_;
};

TEST_F(PathCheckerTest, AcceptsThePathGiveOrTakeTheLastCall) {
  EXPECT_TRUE(Fits({kA, kB, kC, kD}, {kD, kC, kB, kA, kMain}));
  EXPECT_TRUE(Fits({kA, kB, kC, kD}, {kWork, kD, kC, kNext, kB, kA, kMain}));
  EXPECT_TRUE(Fits({kA, kB, kC}, {kD, kC, kB, kA, kMain})) << "not published yet";
  EXPECT_TRUE(Fits({kA, kB, kC, kD}, {kC, kB, kA, kMain})) << "has returned";
  EXPECT_TRUE(Fits({kA, kB, kC}, {kWork, kD, kC, kB, kA, kMain})) << "calls publish";
  EXPECT_EQ(checker_.inexact(), 0u);
}

TEST_F(PathCheckerTest, RejectsASkippedCaller) {
  EXPECT_FALSE(Fits({kA, kB, kC, kD}, {kD, kB, kA, kMain})) << "of the interrupted frame";
  EXPECT_FALSE(Fits({kA, kB, kC, kD}, {kWork, kB, kA, kMain})) << "of a leaf, two";
  EXPECT_FALSE(Fits({kA, kB, kC, kD}, {kD, kC, kA, kMain})) << "in the middle";
  EXPECT_FALSE(Fits({kA, kB, kC, kD}, {kD, kC, kB, kMain})) << "the outermost";
}

TEST_F(PathCheckerTest, RejectsAWrongCaller) {
  EXPECT_FALSE(Fits({kA, kB, kC, kD}, {kD, kB, kB, kA, kMain}));
  EXPECT_FALSE(Fits({kA, kB, kC, kD}, {kWork, kA, kC, kB, kA, kMain}));
  EXPECT_FALSE(Fits({kA, kB, kC, kD}, {kWork, kD, kC, kC, kB, kA, kMain}));
}

TEST_F(PathCheckerTest, RejectsAChainWithoutCallers) {
  EXPECT_FALSE(Fits({kA, kB, kC, kD}, {kWork}));
  EXPECT_FALSE(Fits({kA, kB, kC, kD}, {kD}));
  EXPECT_FALSE(Fits({kA, kB, kC, kD}, {}));
}

// C2's debug information between calls: too few calls or other ones inlined.
TEST_F(PathCheckerTest, CountsWronglyInlinedMethodsAsInexact) {
  EXPECT_TRUE(Fits({kA, kB, kC, kD}, {kB, kA, kMain}));
  EXPECT_EQ(checker_.inexact(), 1u);
  EXPECT_TRUE(Fits({kA, kB, kC, kD}, FrameKind::kCompiled, {kD, kD, kB, kA, kMain}, 2));
  EXPECT_EQ(checker_.inexact(), 2u);
  EXPECT_FALSE(Fits({kA, kB, kC, kD}, FrameKind::kCompiled, {kD, kC, kC, kA, kMain}, 2));
}

// Interpreted and native frames hold no more than they report.
TEST_F(PathCheckerTest, IsExactWhereNothingIsInlined) {
  for (const FrameKind kind : {FrameKind::kInterpreted, FrameKind::kStub, FrameKind::kNative}) {
    const uint64_t leaf = kind == FrameKind::kInterpreted ? kB : 0x7777;
    EXPECT_FALSE(Fits({kA, kB, kC, kD}, kind, {leaf, kB, kA, kMain}));
    EXPECT_TRUE(Fits({kA, kB}, kind, {leaf, kB, kA, kMain}));
  }
}

}  // namespace
}  // namespace jtrace::walker_test
