// The state of the test agent, and the samples that it takes: counts them, checks their chains, and
// reports the result.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "agent/jvm/hot_spot_internals.h"
#include "agent/samples/handler/sample_record.h"
#include "agent/samples/sampler.h"
#include "java-tests/walker/path_checker.h"
#include "java-tests/walker/walker_settings.h"

namespace jtrace::walker_test {

// Everything that the agent keeps; one per JVM, reached from the callbacks.
struct Agent {
  WalkerSettings settings;
  jvmtiEnv* jvmti = nullptr;
  jvm::HotSpotInternals jvm;  // outlives the sampler
  std::unique_ptr<samples::Sampler> sampler;
  PathChecker paths, stepped_paths;

  std::thread drainer;
  std::atomic<bool> draining{true};
  std::atomic<bool> unreported{false};  // reports=0: the reports have ended

  // The drainer's own.
  uint64_t samples = 0, weight = 0, ends[4] = {}, frames = 0, raw_methods = 0;
  uint64_t deepest = 0, java_samples = 0, java_roots = 0;
  std::map<std::string, uint64_t> failures;
  int dumped = 0;
};
extern Agent* agent;

// `names`: a printed chain has its methods' names.
void Take(const samples::SampleView& sample, bool names);
void PrintReport(FILE* out);
// Ends the process with status 3 if a check of the settings failed.
void CheckResult();

}  // namespace jtrace::walker_test
