#include "agent/calls/instrument/unprobed_classes.h"

#include <string>

#include "gtest/gtest.h"
#include "proto/trace_format.h"

namespace jtrace::calls {
namespace {

class UnprobedClassesTest : public ::testing::Test {
 protected:
  // "NAME REASON" of each record so far.
  std::string Records() {
    const proto::Chunk chunk = encoder_.Take();
    std::string text;
    for (const proto::Event& event : chunk.event()) {
      EXPECT_EQ(event.major(), format::kClass);
      EXPECT_EQ(event.minor(), format::kClassUnprobed);
      for (const proto::ClassDef& it : chunk.class_def()) {
        if (it.id() == event.class_event().class_id()) text += StringOf(chunk, it.name()) + " ";
      }
      text += StringOf(chunk, event.text()) + "; ";
    }
    return text;
  }

  static std::string StringOf(const proto::Chunk& chunk, uint32_t number) {
    return chunk.string(static_cast<int>(number - chunk.first_string()));
  }

  RecordingClock clock_;
  Losses losses_;
  trace::RecordEncoder encoder_{{}};
  UnprobedClasses unprobed_{clock_, encoder_, losses_};
};

TEST_F(UnprobedClassesTest, EachIsALossAndARecord) {
  const uint32_t a = encoder_.ClassNumber("a.A", 0);
  unprobed_.Add(UnprobedReason::kNotRetransformed, a, "a.A", "JVMTI_ERROR_INTERNAL");
  EXPECT_EQ(losses_.Count("class.not_retransformed"), 1u);
  EXPECT_EQ(losses_.Snapshot()[0].what,
            "classes loaded before the probes were ready that the JVM did not allow to be changed: "
            "a.A (JVMTI_ERROR_INTERNAL)");
  EXPECT_EQ(Records(), "a.A class.not_retransformed JVMTI_ERROR_INTERNAL; ");
}

TEST_F(UnprobedClassesTest, EachReasonCountsOnceAClass) {
  const uint32_t a = encoder_.ClassNumber("a.A", 0);
  const uint32_t other = encoder_.ClassNumber("a.A", 7);  // of another loader
  for (int i = 0; i < 2; ++i) {
    unprobed_.Add(UnprobedReason::kLate, a, "a.A");
    unprobed_.Add(UnprobedReason::kLate, other, "a.A");
  }
  EXPECT_EQ(losses_.Count("class.late"), 2u);
  EXPECT_TRUE(unprobed_.Has(UnprobedReason::kLate, a));
  EXPECT_FALSE(unprobed_.Has(UnprobedReason::kNotHooked, a));
  unprobed_.Add(UnprobedReason::kNotHooked, a, "a.A");
  EXPECT_EQ(losses_.Count("class.not_hooked"), 1u);
}

TEST_F(UnprobedClassesTest, NumbersOfUnloadedClassesAreFree) {
  const uint32_t a = encoder_.ClassNumber("a.A", 0);
  unprobed_.Add(UnprobedReason::kHidden, a, "a.A$$Lambda.0x0000800012345678");
  EXPECT_EQ(losses_.Snapshot()[0].what,
            "hidden classes in scope, whose methods cannot get probes: a.A$$Lambda");
  unprobed_.Forget({a});
  EXPECT_FALSE(unprobed_.Has(UnprobedReason::kHidden, a));
  unprobed_.Add(UnprobedReason::kHidden, a, "a.A$$Lambda.0x0000800012345678");
  EXPECT_EQ(losses_.Count("hidden_class"), 2u);
}

TEST_F(UnprobedClassesTest, ARecordingBeginsWithNone) {
  unprobed_.Add(UnprobedReason::kUnreadable, 1, "a.A");
  unprobed_.Clear();
  EXPECT_FALSE(unprobed_.Has(UnprobedReason::kUnreadable, 1));
}

}  // namespace
}  // namespace jtrace::calls
