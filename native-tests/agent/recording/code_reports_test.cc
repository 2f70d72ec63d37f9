#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "agent/recording/compiled_code_reports.h"

namespace jtrace {
namespace {

using ::testing::IsEmpty;

class FakeReader : public jvm::DebugInfoKeeper {
 public:
  bool NeedsCompiledCode() const override { return needs_reports; }
  bool KeepDebugInfo() override { return keeps = has_flag; }
  void StopKeepingDebugInfo() override { keeps = false; }

  bool needs_reports = true;
  bool has_flag = true;
  bool keeps = false;
};

class CodeReportsTest : public ::testing::Test {
 protected:
  CodeReportsTest() {
    the_test = this;
    tools_.SetEventNotificationMode = SetMode;
    tools_.GenerateEvents = [](jvmtiEnv*, jvmtiEvent) {
      ++the_test->generated_;
      return JVMTI_ERROR_NONE;
    };
    env_.functions = &tools_;
  }

  void Start(const char* options) { reports_.Start(*ParseOptions(options), &reader_); }
  bool AreOn() const {
    return on_ == std::set{JVMTI_EVENT_COMPILED_METHOD_LOAD, JVMTI_EVENT_COMPILED_METHOD_UNLOAD};
  }

  static jvmtiError JNICALL SetMode(jvmtiEnv*, jvmtiEventMode mode, jvmtiEvent event, jthread,
                                    ...) {
    if (mode == JVMTI_ENABLE) the_test->on_.insert(event);
    if (mode == JVMTI_DISABLE) the_test->on_.erase(event);
    return JVMTI_ERROR_NONE;
  }

  static inline CodeReportsTest* the_test = nullptr;
  jvmtiInterface_1_ tools_{};
  jvmtiEnv env_{};
  std::set<jvmtiEvent> on_;
  int generated_ = 0;
  FakeReader reader_;
  CompiledCodeReports reports_{&env_};
};

TEST_F(CodeReportsTest, TheyEndWithTheFirstThatDecides) {
  Start("mode=samples");
  reports_.ReportExisting();
  EXPECT_EQ(generated_, 1);
  reports_.AfterReport();
  EXPECT_TRUE(AreOn());
  reader_.needs_reports = false;
  reports_.AfterReport();
  EXPECT_THAT(on_, IsEmpty());
  reports_.ReportExisting();
  EXPECT_EQ(generated_, 1);
  EXPECT_TRUE(reader_.keeps);
  reports_.Stop();
  EXPECT_FALSE(reader_.keeps);
}

TEST_F(CodeReportsTest, WithRestingProbesTheJvmAlwaysKeepsDebugInformation) {
  EXPECT_FALSE(reports_.always_keeps());
  reports_.KeepAlways(reader_);
  EXPECT_TRUE(reports_.always_keeps());
  Start("mode=samples");
  reports_.Stop();
  EXPECT_TRUE(reader_.keeps);
  EXPECT_THAT(on_, IsEmpty());
}

TEST_F(CodeReportsTest, TheNextRecordingNeedsNone) {
  ASSERT_TRUE(reports_.Expect(*ParseOptions("mode=samples")).ok());
  EXPECT_TRUE(AreOn());
  reader_.needs_reports = false;
  Start("mode=samples");
  EXPECT_THAT(on_, IsEmpty());
  reports_.ReportExisting();
  EXPECT_EQ(generated_, 0);
}

TEST_F(CodeReportsTest, RecordsNeedAllOfThem) {
  reader_.needs_reports = false;
  for (const char* const options : {"mode=samples,codes=+jit", "mode=merged"}) {
    Start(options);
    reports_.AfterReport();
    EXPECT_TRUE(AreOn()) << options;
    reports_.Stop();
    EXPECT_THAT(on_, IsEmpty()) << options;
  }
}

TEST_F(CodeReportsTest, AJvmWithoutTheFlagNeedsThemForDebugInformation) {
  reader_.needs_reports = false;
  reader_.has_flag = false;
  Start("mode=samples");
  reports_.AfterReport();
  EXPECT_TRUE(AreOn());
}

TEST_F(CodeReportsTest, RecordsMayBeRequestedLater) {
  reader_.needs_reports = false;
  Start("mode=samples");
  EXPECT_THAT(on_, IsEmpty());
  Start("mode=samples,codes=+jit");
  reports_.ReportExisting();
  EXPECT_EQ(generated_, 1);
  reports_.AfterReport();
  EXPECT_TRUE(AreOn());
}

// Nothing but they says which calls ran in C1's code.
TEST_F(CodeReportsTest, CallsAloneNeedThemWithoutASampler) {
  ASSERT_TRUE(reports_.Expect(*ParseOptions("mode=events")).ok());
  EXPECT_TRUE(AreOn());
  reports_.Start(*ParseOptions("mode=events"), nullptr);
  reports_.AfterReport();
  EXPECT_TRUE(AreOn());
  reports_.Stop();
  reports_.Start(*ParseOptions("mode=events,codes=-0x51"), nullptr);
  EXPECT_THAT(on_, IsEmpty());
}

TEST_F(CodeReportsTest, NobodyListensIfNothingIsWanted) {
  ASSERT_TRUE(reports_.Expect(*ParseOptions("mode=samples,codes=-0x51")).ok());
  Start("mode=samples,codes=-0x51");
  EXPECT_THAT(on_, IsEmpty());
  EXPECT_FALSE(reader_.keeps);
}

}  // namespace
}  // namespace jtrace
