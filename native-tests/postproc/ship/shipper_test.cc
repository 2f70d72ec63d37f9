// What becomes of traces, with targets that obey.
#include "postproc/ship/shipper.h"

#include <gmock/gmock.h>

#include <functional>

#include "absl/time/clock.h"
#include "native-tests/postproc/ship/trace_folder.h"

namespace jtrace::ship {
namespace {

using Outcome = Delivery::Outcome;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::TraceFolder;

// Refuses the trace that the test names, and all while it does not work.
class FakeTarget : public Target {
 public:
  struct State {
    std::vector<std::string> taken;
    std::string refused;
    std::string failing = {};  // the trace that it cannot take now
    bool is_broken = false;    // the conversion of that trace
    bool works = true;
    std::function<void()> meanwhile = [] {};
  };
  FakeTarget(std::string name, State& state) : name_(std::move(name)), state_(state) {}

  absl::Status Open() override { return absl::OkStatus(); }
  Delivery Deliver(const SealedTrace& trace, StopSignal&) override {
    state_.meanwhile();
    if (!state_.works) return {.outcome = Outcome::kLater, .message = "down"};
    if (trace.name == state_.failing) {
      return {.outcome = Outcome::kLater, .message = "500", .is_broken = state_.is_broken};
    }
    if (trace.name == state_.refused) return {.outcome = Outcome::kRefused, .message = "bad"};
    state_.taken.push_back(trace.name);
    return {};
  }
  const std::string& name() const override { return name_; }
  const std::string& key() const override { return name_; }

 private:
  const std::string name_;
  State& state_;
};

class ShipperTest : public ::testing::Test {
 protected:
  ShipperTest() : folder_("shipper") {
    policy_.folder = folder_.path();
    policy_.settled = absl::ZeroDuration();
    for (const char* name : {"a.bin", "b.bin", "c.bin"}) Trace(name);
  }

  void Trace(const std::string& name) {
    folder_.WriteTrace(name, absl::Now() - absl::Minutes(60 - made_++));
  }

  // One run of a shipper, which is then gone.
  bool Run() {
    std::vector<std::unique_ptr<Target>> targets;
    targets.push_back(std::make_unique<FakeTarget>("one", one_));
    targets.push_back(std::make_unique<FakeTarget>("two", two_));
    StopSignal stop;
    Shipper shipper(policy_, std::move(targets), stop,
                    [&](std::string_view line) { said_.emplace_back(line); });
    EXPECT_TRUE(shipper.Open().ok());
    const bool is_done = shipper.RunOnce();
    metrics_ = shipper.metrics();
    return is_done;
  }

  TraceFolder folder_;
  ShipPolicy policy_;
  FakeTarget::State one_;
  FakeTarget::State two_;
  std::vector<std::string> said_;
  ShipMetrics metrics_;
  int made_ = 0;
};

TEST_F(ShipperTest, WhatAllTargetsHaveIsMoved) {
  EXPECT_TRUE(Run());
  EXPECT_THAT(one_.taken, ElementsAre("a.bin", "b.bin", "c.bin"));
  EXPECT_THAT(two_.taken, ElementsAre("a.bin", "b.bin", "c.bin"));
  EXPECT_TRUE(folder_.Has("shipped/a.bin"));
  EXPECT_FALSE(folder_.Has("a.bin"));
  EXPECT_EQ(metrics_.shipped, 3U);
  EXPECT_THAT(said_, IsEmpty());
}

TEST_F(ShipperTest, WhatOneTargetLacksWaitsAndIsNotRepeatedToTheOther) {
  two_.works = false;
  EXPECT_FALSE(Run());
  EXPECT_THAT(one_.taken, ElementsAre("a.bin", "b.bin", "c.bin"));
  EXPECT_TRUE(folder_.Has("a.bin"));
  EXPECT_EQ(metrics_.waiting, 3U);
  EXPECT_EQ(metrics_.waiting_bytes, 300U);
  EXPECT_EQ(metrics_.targets["two"].retries, 3U);
  EXPECT_FALSE(metrics_.targets["two"].works);
  EXPECT_THAT(said_, ElementsAre("two: down; it is tried again until it works"));
  two_.works = true;
  EXPECT_TRUE(Run());
  EXPECT_EQ(one_.taken.size(), 3U);
  EXPECT_EQ(two_.taken.size(), 3U);
  EXPECT_TRUE(folder_.Has("shipped/c.bin"));
}

TEST_F(ShipperTest, ItDoesNotMatterWhichTargetLacksIt) {
  one_.works = false;
  EXPECT_FALSE(Run());
  EXPECT_TRUE(folder_.Has("a.bin"));
  EXPECT_FALSE(folder_.Has("shipped/a.bin"));
  one_.works = true;
  EXPECT_TRUE(Run());
  EXPECT_EQ(one_.taken.size(), 3U);
  EXPECT_EQ(two_.taken.size(), 3U);
}

TEST_F(ShipperTest, ARefusedTraceIsSetAsideWithItsReason) {
  two_.refused = "b.bin";
  EXPECT_TRUE(Run());
  EXPECT_TRUE(folder_.Has("failed/b.bin"));
  EXPECT_EQ(folder_.Text("failed/b.bin.reason"), "two: bad\n");
  EXPECT_THAT(said_, ElementsAre(HasSubstr("failed/b.bin: two: bad")));
  EXPECT_THAT(two_.taken, ElementsAre("a.bin", "c.bin"));
  EXPECT_EQ(metrics_.shipped, 2U);
  EXPECT_EQ(metrics_.failed, 1U);
}

TEST_F(ShipperTest, WhatOneTargetRefusesTheOthersGet) {
  one_.refused = "b.bin";
  two_.works = false;
  EXPECT_FALSE(Run());
  EXPECT_TRUE(folder_.Has("b.bin"));
  two_.works = true;
  EXPECT_TRUE(Run());
  EXPECT_THAT(one_.taken, ElementsAre("a.bin", "c.bin"));
  EXPECT_THAT(two_.taken, ElementsAre("a.bin", "b.bin", "c.bin"));
  EXPECT_EQ(folder_.Text("failed/b.bin.reason"), "one: bad\n");
}

TEST_F(ShipperTest, AnotherTraceOfThatNameThatArrivesMeanwhileStays) {
  one_.meanwhile = [&] {
    std::filesystem::rename(folder_.File("c.bin"), folder_.File("a.bin"));
    one_.meanwhile = [] {};
  };
  EXPECT_FALSE(Run());
  EXPECT_TRUE(folder_.Has("a.bin"));
  EXPECT_FALSE(folder_.Has("shipped/a.bin"));
  EXPECT_TRUE(Run());
  EXPECT_THAT(two_.taken, ElementsAre("a.bin", "b.bin", "a.bin"));
  EXPECT_TRUE(folder_.Has("shipped/a.bin"));
}

TEST_F(ShipperTest, OneTraceThatATargetDoesNotTakeStopsNoOther) {
  two_.failing = "a.bin";
  EXPECT_FALSE(Run());
  EXPECT_THAT(two_.taken, ElementsAre("b.bin", "c.bin"));
  EXPECT_EQ(metrics_.waiting, 1U);
}

TEST_F(ShipperTest, ALinkInPlaceOfAnOwnFolderIsRefused) {
  std::filesystem::create_directory(folder_.File("victim"));
  for (const char* name : {".jtrace-ship", "shipped", "failed"}) {
    std::filesystem::create_directory_symlink("victim", folder_.File(name));
    StopSignal stop;
    Shipper shipper(policy_, {}, stop, [](std::string_view) {});
    EXPECT_THAT(std::string(shipper.Open().message()), HasSubstr("is a link or a file")) << name;
    std::filesystem::remove_all(folder_.File(name));
  }
}

TEST_F(ShipperTest, AMoveThatFailsIsSaidOnce) {
  one_.meanwhile = [&] {
    std::filesystem::create_directory(folder_.File("victim"));
    std::filesystem::create_directory_symlink("victim", folder_.File("shipped"));
    one_.meanwhile = [] {};
  };
  EXPECT_FALSE(Run());
  EXPECT_THAT(said_, ElementsAre(HasSubstr("/shipped is a link or a file")));
  EXPECT_TRUE(folder_.Has("a.bin"));
  EXPECT_FALSE(folder_.Has("victim/a.bin"));
}

TEST_F(ShipperTest, TheThirdBrokenConversionIsARefusal) {
  two_.failing = "a.bin";
  two_.is_broken = true;
  std::vector<std::unique_ptr<Target>> targets;
  targets.push_back(std::make_unique<FakeTarget>("two", two_));
  StopSignal stop;
  Shipper shipper(policy_, std::move(targets), stop, [](std::string_view) {});
  ASSERT_TRUE(shipper.Open().ok());
  EXPECT_FALSE(shipper.RunOnce());
  EXPECT_FALSE(shipper.RunOnce());
  EXPECT_TRUE(folder_.Has("a.bin"));
  EXPECT_TRUE(shipper.RunOnce());
  EXPECT_EQ(folder_.Text("failed/a.bin.reason"), "two: 500\n");
}

TEST_F(ShipperTest, NothingIsDroppedWhileTargetsWork) {
  policy_.most_waiting_bytes = 1;
  EXPECT_TRUE(Run());
  EXPECT_EQ(metrics_.dropped, 0U);
  EXPECT_EQ(metrics_.shipped, 3U);
}

TEST_F(ShipperTest, WhatWasDroppedIsNotDone) {
  two_.failing = "a.bin";
  policy_.most_waiting_bytes = 1;
  EXPECT_FALSE(Run());
  EXPECT_EQ(metrics_.dropped, 1U);
  EXPECT_EQ(metrics_.waiting, 0U);
}

TEST_F(ShipperTest, BeyondTheBudgetTheOldestAreDropped) {
  one_.works = two_.works = false;
  policy_.most_waiting_bytes = 250;
  EXPECT_FALSE(Run());
  EXPECT_FALSE(folder_.Has("a.bin"));
  EXPECT_TRUE(folder_.Has("b.bin"));
  EXPECT_EQ(metrics_.dropped, 1U);
  EXPECT_EQ(metrics_.dropped_bytes, 100U);
  EXPECT_THAT(said_.back(), HasSubstr("dropped the 1 oldest trace "));
}

TEST_F(ShipperTest, NothingIsKeptIfNothingIsRetained) {
  policy_.shipped = {.longest = absl::ZeroDuration(), .most_bytes = 0};
  EXPECT_TRUE(Run());
  EXPECT_FALSE(folder_.Has("a.bin"));
  EXPECT_FALSE(folder_.Has("shipped"));
}

TEST_F(ShipperTest, ASecondTraceOfANameIsShippedAndKeptToo) {
  EXPECT_TRUE(Run());
  Trace("a.bin");
  EXPECT_TRUE(Run());
  EXPECT_THAT(one_.taken, ElementsAre("a.bin", "b.bin", "c.bin", "a.bin"));
  EXPECT_TRUE(folder_.Has("shipped/a.bin.2"));
}

TEST_F(ShipperTest, AFolderHasOneShipper) {
  StopSignal stop;
  const auto say = [](std::string_view) {};
  Shipper one(policy_, {}, stop, say);
  ASSERT_TRUE(one.Open().ok());
  Shipper two(policy_, {}, stop, say);
  EXPECT_THAT(std::string(two.Open().message()), HasSubstr("another jtrace ship runs for"));
}

TEST_F(ShipperTest, MetricsAreWrittenAsAFile) {
  policy_.metrics_file = folder_.File("ship.prom");
  EXPECT_TRUE(Run());
  EXPECT_THAT(folder_.Text("ship.prom"), HasSubstr("jtrace_ship_shipped_total 3\n"));
  EXPECT_THAT(folder_.Text("ship.prom"), HasSubstr("delivered_total{target=\"two\"} 3\n"));
}

}  // namespace
}  // namespace jtrace::ship
