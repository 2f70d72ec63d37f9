#include "java-tests/walker/walker_settings.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>

namespace jtrace::walker_test {
namespace {

samples::TimerKind ParseTimer(const std::string& value) {
  if (value == "perf") return samples::TimerKind::kCpuPerf;
  return value == "posix" ? samples::TimerKind::kCpuPosix : samples::TimerKind::kAuto;
}

bool Set(const std::string& key, const std::string& value, WalkerSettings* settings) {
  if (key == "interval_us") {
    settings->sampler.interval = absl::Microseconds(std::stol(value));
  } else if (key == "timer") {
    settings->sampler.timer = ParseTimer(value);
  } else if (key == "min_root") {
    settings->min_root = std::stod(value);
  } else if (key == "max_inexact") {
    settings->max_inexact = std::stod(value);
  } else if (key == "max_unequal") {
    settings->max_unequal = std::stod(value);
  } else if (key == "min_samples") {
    settings->min_samples = std::stoul(value);
  } else if (key == "check_last_walk") {
    settings->sampler.check_last_walk = value == "1";
  } else if (key == "max_frames") {
    settings->sampler.max_frames = static_cast<uint32_t>(std::stoul(value));
  } else if (key == "reports") {
    settings->reports = value == "1";
  } else if (key == "steps") {
    settings->steps = std::stoul(value);
  } else if (key == "dump") {
    settings->dump = std::stoi(value);
  } else if (key == "report") {
    settings->report = value;
  } else {
    return false;
  }
  return true;
}

}  // namespace

WalkerSettings ParseWalkerSettings(const char* text) {
  WalkerSettings settings;
  std::string rest = text != nullptr ? text : "";
  while (!rest.empty()) {
    const size_t end = rest.find(',');
    const std::string item = rest.substr(0, end);
    rest = end == std::string::npos ? "" : rest.substr(end + 1);
    const size_t equals = item.find('=');
    const std::string key = item.substr(0, equals);
    if (equals == std::string::npos || !Set(key, item.substr(equals + 1), &settings)) {
      fprintf(stderr, "walker_agent: unknown setting %s\n", key.c_str());
      _exit(3);
    }
  }
  return settings;
}

}  // namespace jtrace::walker_test
