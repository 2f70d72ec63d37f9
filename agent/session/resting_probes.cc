#include "agent/session/resting_probes.h"

#include <utility>

#include "agent/session/event_sets.h"
#include "agent/session/recording_settings.h"
#include "agent/session/sample_collection.h"

namespace jtrace {
namespace {

// Codes that decide which probes classes get.
constexpr Code kRewritten[] = {Code::kThrown, Code::kCaught, Code::kPark};

bool HaveSameCodes(const Options& a, const Options& b) {
  for (const Code code : kRewritten) {
    if (a.codes.Has(code) != b.codes.Has(code)) return false;
  }
  return true;
}

bool CountsCallsAlone(const Options& o) {
  return o.WantsEvents() && !o.boundary && o.metrics.empty() && o.unwinds.empty() &&
         o.method_hooks.empty();
}

}  // namespace

absl::StatusOr<std::unique_ptr<RestingProbes>> RestingProbes::Begin(JvmParts& jvm, JNIEnv* jni,
                                                                    const Options& options) {
  std::unique_ptr<RestingProbes> made(new RestingProbes(jvm, options));
  if (absl::Status status = made->Start(jni); !status.ok()) return status;
  return made;
}

absl::Status RestingProbes::Start(JNIEnv* jni) {
  jvm_.registries.loaders.LearnJdk(jni);
  jvm_.registries.classes.sources().Learn(jni);
  jvm_.registries.classes.LearnJvm(jvm_.libjvm_address());
  auto classes = ProbedClasses::Create(jvm_, options_);
  if (!classes.ok()) return classes.status();
  classes_ = *std::move(classes);
  ChooseTreeMemory(jvm_, jni, options_);
  auto set = jvm_.probe_sets.Use(jvm_.env, jni, ProbeOptionsOf(options_));
  if (!set.ok()) return set.status();
  Probes& probes = *(*set)->probes;
  probes.Idle();
  instrumentation().UseProbeClass(probes.class_name());
  if (absl::Status status = EnableClassFileEvents(jvm_.env); !status.ok()) return status;
  jvm_.resting.store(this);
  classes_->AddToLoaded(jni);
  KeepDebugInfo(jni);
  return absl::OkStatus();
}

void RestingProbes::KeepDebugInfo(JNIEnv* jni) {
  if (!options_.WantsDebugInfo()) return;
  if (!SampleCollection::PrepareSampler(jvm_, options_).ok()) return;
  sampling::Sampler& sampler = *jvm_.sampler.load();
  if (sampler.LearnJvm(jni).ok()) jvm_.code_reports.KeepAlways(sampler);
}

bool RestingProbes::Fit(const Options& wanted) const {
  const bool names_scope = !wanted.include.empty() || !wanted.exclude.empty();
  if (names_scope && (wanted.include != options_.include || wanted.exclude != options_.exclude)) {
    return false;
  }
  Options resting = wanted;
  resting.probes_rest = true;
  if (resting.memory_bytes == 0) resting.memory_bytes = options_.memory_bytes;
  return CountsCallsAlone(wanted) && HaveSameCodes(wanted, options_) &&
         ProbeOptionsOf(resting) == ProbeOptionsOf(options_);
}

}  // namespace jtrace
