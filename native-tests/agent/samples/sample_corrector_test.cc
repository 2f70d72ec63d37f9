#include "agent/samples/sample_corrector.h"

#include <gtest/gtest.h>

#include <vector>

#include "agent/samples/walk/debug_info.h"
#include "native-tests/agent/jvm/hotspot/noted_code.h"

namespace jtrace::samples {
namespace {

using testing::NotedCode;

Frame FrameOf(FrameKind kind, uint64_t value) { return {value, 0, kind, 0, 0}; }

// A sample: the kernel, an interrupted frame of two methods that was named wrongly, its caller.
class SampleCorrectorTest : public ::testing::Test {
 protected:
  SampleCorrectorTest() {
    for (int i = 0; i < NotedCode::kCalls; ++i) code_.AddPair(NotedCode::kElsewhere);
    check_.Publish();
    corrector_.Use(&check_, /*keeps_one=*/false);
    header_.unchecked = {code_.pc(8), CompilationKey(code_.vm(), code_.blob().address), 1, 2};
  }

  std::vector<uint64_t> Take() {
    header_.frame_count = static_cast<uint32_t>(frames_.size());
    std::vector<uint64_t> taken;
    corrector_.Correct({header_, 0, frames_.data()}, [&](const SampleView& view) {
      for (uint32_t i = 0; i < view.header.frame_count; ++i) taken.push_back(view.frames[i].value);
    });
    return taken;
  }

  NotedCode code_;
  jvm::NonSafepointsCheck check_{code_.layout()};
  SampleCorrector corrector_;
  SampleHeader header_{};
  std::vector<Frame> frames_ = {
      FrameOf(FrameKind::kKernel, 1), FrameOf(FrameKind::kInlined, NotedCode::kElsewhereMethod),
      FrameOf(FrameKind::kCompiled, NotedCode::kOuterMethod), FrameOf(FrameKind::kInterpreted, 2)};
};

TEST_F(SampleCorrectorTest, ReplacesTheMethodsOfTheInterruptedFrame) {
  EXPECT_EQ(Take(), (std::vector<uint64_t>{1, testing::NotedCode::kInlinedMethod,
                                           testing::NotedCode::kOuterMethod, 2}));
}

TEST_F(SampleCorrectorTest, OfStackFrameTheInnermostMethodIsLeft) {
  corrector_.Use(&check_, /*keeps_one=*/true);
  frames_ = {FrameOf(FrameKind::kInlined, NotedCode::kElsewhereMethod)};
  header_.unchecked.first = 0;
  EXPECT_EQ(Take(), (std::vector<uint64_t>{testing::NotedCode::kInlinedMethod}));
}

TEST_F(SampleCorrectorTest, OfStackFrameTheInnermostMethodIsLeftOfMoreThanThereWere) {
  corrector_.Use(&check_, /*keeps_one=*/true);
  frames_ = {FrameOf(FrameKind::kCompiled, NotedCode::kOuterMethod)};
  header_.unchecked.first = 0;
  header_.unchecked.count = 1;
  EXPECT_EQ(Take(), (std::vector<uint64_t>{testing::NotedCode::kInlinedMethod}));
}

TEST_F(SampleCorrectorTest, AnUnwindIsWholeWithStackFrame) {
  corrector_.Use(&check_, /*keeps_one=*/true);
  header_.is_unwind = true;
  EXPECT_EQ(Take(), (std::vector<uint64_t>{1, testing::NotedCode::kInlinedMethod,
                                           testing::NotedCode::kOuterMethod, 2}));
}

TEST_F(SampleCorrectorTest, LeavesWhatIsNotMarked) {
  header_.unchecked = {};
  EXPECT_EQ(Take(), (std::vector<uint64_t>{1, testing::NotedCode::kElsewhereMethod,
                                           testing::NotedCode::kOuterMethod, 2}));
}

TEST_F(SampleCorrectorTest, LeavesAllIfNothingIsChecked) {
  corrector_.Use(nullptr, /*keeps_one=*/false);
  EXPECT_EQ(Take(), (std::vector<uint64_t>{1, testing::NotedCode::kElsewhereMethod,
                                           testing::NotedCode::kOuterMethod, 2}));
}

}  // namespace
}  // namespace jtrace::samples
