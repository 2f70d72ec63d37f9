#include "agent/base/perf_event_table.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace jtrace {
namespace {

signal_safe::PerfStopMode EventStopOf(const char* event, std::string_view release) {
  return EventStopOf(*FindPerfEvent(event), release);
}

TEST(EventStopChoiceTest, ClocksHaveNoLimitWhereItHangsTheMachine) {
  for (const char* const release :
       {"6.16.0", "6.16.0-rc1", "6.16.12-200.fc42.x86_64", "6.17.0-5-generic",
        "6.17.0-061700-generic", "6.17.1-300.fc43.x86_64", "6.17.13+deb14-amd64", "6.17",
        "6.17-rc2", "6.17.8-arch1-1", "6.18.0-rc4",
        "6.18.0-0.rc3.251031gd127176862a9.30.fc44.x86_64"}) {
    for (const char* const clock : {"cpu-clock", "task-clock"}) {
      EXPECT_EQ(EventStopOf(clock, release), signal_safe::PerfStopMode::kByHandler) << release;
    }
  }
}

TEST(EventStopChoiceTest, ElsewhereTheKernelStopsClocks) {
  for (const char* const release :
       {"6.15.11", "6.15.4-200.fc42.x86_64", "6.18.0", "6.18.44-fc-v669", "6.18.2-arch1-1",
        "6.19.0", "7.16.0", "7.17.1", "5.16.0", "5.17.15", "6.1.0-41-amd64", "6.1.160",
        "6.12.57+deb13-amd64", "6.14.0-37-generic", "4.15.0-213-generic", "6.160.0"}) {
    EXPECT_EQ(EventStopOf("cpu-clock", release), signal_safe::PerfStopMode::kByKernel) << release;
  }
}

// Their kernels have newer code than their number says.
TEST(EventStopChoiceTest, ClocksOfRedHatsKernelsHaveNoLimit) {
  for (const char* const release : {"6.12.0-124.8.1.el10_1.x86_64", "5.14.0-611.5.1.el9_7.x86_64",
                                    "4.18.0-553.el8_10.aarch64"}) {
    EXPECT_EQ(EventStopOf("task-clock", release), signal_safe::PerfStopMode::kByHandler) << release;
  }
}

TEST(EventStopChoiceTest, ClocksOfUnknownKernelsHaveNoLimit) {
  for (const char* const release : {"", "6", "6.", ".17", "6.x.1", "linux", "six.seventeen",
                                    "6.99999999999999999999.0", "-6.12"}) {
    EXPECT_EQ(EventStopOf("cpu-clock", release), signal_safe::PerfStopMode::kByHandler) << release;
  }
}

// Their signal may be a real-time one, which queues: only a limit keeps the queue short.
TEST(EventStopChoiceTest, OtherEventsAlwaysHaveALimit) {
  for (const PerfEvent& event : PerfEvents()) {
    if (event.is_clock) continue;
    for (const char* const release : {"6.17.0-5-generic", "6.16.0", "6.12.0", ""}) {
      EXPECT_EQ(EventStopOf(event, release), signal_safe::PerfStopMode::kByKernel) << event.name;
    }
  }
}

// The one place that knows who stops an event.
TEST(EventStopChoiceTest, NothingElseSetsALimit) {
  std::vector<std::string> users;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(JTRACE_SOURCE_DIR "/agent")) {
    std::ifstream file(entry.path());
    std::stringstream text;
    if (entry.is_regular_file()) text << file.rdbuf();
    if (text.str().find("PERF_EVENT_IOC_REFRESH") != std::string::npos) {
      users.push_back(entry.path().filename());
    }
  }
  EXPECT_EQ(users, std::vector<std::string>{"perf_stop_mode.h"});
}

TEST(EventStopChoiceTest, ThisKernelHasARelease) { EXPECT_FALSE(KernelRelease().empty()); }

}  // namespace
}  // namespace jtrace
