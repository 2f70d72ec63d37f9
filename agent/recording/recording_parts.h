// What a recording owns, for its steps (recording.h), its commands and its summary. The parts know
// nothing of one another but what the steps pass between them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "agent/metrics/live_objects_source.h"
#include "agent/metrics/metric_source.h"
#include "agent/options/options.h"
#include "agent/recording/call_counting.h"
#include "agent/recording/jvm_parts.h"
#include "agent/recording/log.h"
#include "agent/recording/probed_classes.h"
#include "agent/recording/recording_file.h"
#include "agent/recording/resting_probes.h"
#include "agent/recording/sample_collection.h"
#include "agent/samples/switch_source.h"
#include "agent/samples/system_source.h"
#include "agent/trace/drain_thread.h"

namespace jtrace {

// Prepare sets options, log, metric_numbers, switches, classes, calls and samples, and opens the
// file; Begin makes metric_source, live_objects_source and drain, and sets began and
// the texts.
struct RecordingParts {
  // `files_begun`: the number of all recordings so far, incremented here.
  RecordingParts(JvmParts& jvm_parts, int& files_begun)
      : jvm(jvm_parts),
        file(files_begun, jvm_parts.trace.losses),
        module_source(jvm.trace.encoder),
        loss_source(jvm.trace.losses),
        ended_threads(jvm.registries.threads) {}

  JvmParts& jvm;
  Options options = {};
  std::unique_ptr<Log> log = nullptr;
  RecordingFile file;
  std::vector<uint32_t> metric_numbers = {};
  std::unique_ptr<ProbedClasses> classes = nullptr;  // null: mode=samples
  RestingProbes* resting = nullptr;                  // whose probes count for this recording
  std::unique_ptr<samples::SwitchSource> switches = nullptr;  // null: the kernel records none
  std::unique_ptr<CallCounting> calls = nullptr;
  std::unique_ptr<SampleCollection> samples = nullptr;  // null: mode=events
  std::unique_ptr<metrics::MetricSource> metric_source = nullptr;
  std::unique_ptr<metrics::LiveObjectsSource> live_objects_source = nullptr;
  samples::ModuleSource module_source;
  samples::LossSource loss_source;
  samples::EndedThreadSource ended_threads;
  std::unique_ptr<trace::DrainThread> drain = nullptr;
  absl::Time began = absl::InfinitePast();
  // Since when all loaded classes in scope have their probes, from where duration= counts.
  absl::Time complete = absl::InfinitePast();
  // Of the first file. The thread that begins the next ones cannot ask the JVM.
  std::string jvm_name = {};
  std::string command = {};
};

}  // namespace jtrace
