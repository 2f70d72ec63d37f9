#include "agent/recording/resting_probes.h"

#include <utility>

#include "agent/recording/jvmti_events.h"
#include "agent/recording/probe_settings.h"
#include "agent/recording/samples_part.h"

namespace jtrace {
namespace {

// Codes that decide which probes classes get.
constexpr Code kRewritten[] = {Code::kThrown, Code::kCaught, Code::kPark, Code::kLock};

bool HaveSameCodes(const Options& a, const Options& b) {
  for (const Code code : kRewritten) {
    if (a.codes.Has(code) != b.codes.Has(code)) return false;
  }
  return true;
}

bool HasSameScope(const Options& wanted, const Options& resting) {
  if (wanted.include.empty() && wanted.exclude.empty()) return true;
  return wanted.include == resting.include && wanted.exclude == resting.exclude;
}

}  // namespace

absl::StatusOr<RestingProbes*> RestingProbes::Begin(AgentState& agent, JNIEnv* jni,
                                                    const Options& options) {
  auto* made = new RestingProbes(agent.jvm, agent.probes, options);
  if (absl::Status status = made->Start(jni); !status.ok()) return status;
  made->KeepDebugInfo(jni, agent.code_reports);
  return made;
}

absl::Status RestingProbes::Start(JNIEnv* jni) {
  jvm_.registries.loaders.FindPlatformLoader(jni);
  jvm_.registries.classes.locations().FindFields(jni);
  jvm_.registries.classes.ReadJvm(jvm_.libjvm_address());
  auto classes = ProbedClasses::Create(jvm_, probe_state_, options_);
  if (!classes.ok()) return classes.status();
  classes_ = *std::move(classes);
  instrumentation().ReportUnprobedMethods(false);
  ChooseTreeMemory(probe_state_, jni, options_);
  auto set = probe_state_.sets.FindOrDefine(jvm_.env, jni, ProbeOptionsOf(options_));
  if (!set.ok()) return set.status();
  calls::Probes& probes = *(*set)->probes;
  probes.End();
  instrumentation().SetProbeClass(probes.class_name());
  if (absl::Status status = EnableClassFileEvents(jvm_.env); !status.ok()) return status;
  probe_state_.resting.store(this);
  classes_->AddToLoaded(jni);
  return absl::OkStatus();
}

void RestingProbes::KeepDebugInfo(JNIEnv* jni, CompiledCodeReports& reports) {
  if (!options_.WantsDebugInfo()) return;
  if (!PrepareSampler(jvm_, options_).ok()) return;
  samples::Sampler& sampler = *jvm_.sampler.load();
  if (sampler.ResolveJvm(jni).ok()) reports.KeepAlways(jvm_.hotspot);
}

// A class without resting probes gets some when a recording begins. Numbers of routines are not
// used again.
std::span<unsigned char> RestingProbes::Rewrite(const char* name, jobject loader,
                                                std::span<const unsigned char> bytes) {
  if (jvm_.trace.encoder.routines() >= signal_safe::kMaxRoutines / 2) return {};
  return instrumentation().Rewrite(jvm_.env, name, loader, bytes);
}

std::string RestingProbes::WhyNot(const Options& wanted) const {
  if (!wanted.WantsCalls()) return "mode=";
  if (wanted.record != options_.record) return "record=";
  if (const absl::string_view more = MoreThanCalls(wanted); !more.empty()) return std::string(more);
  if (!HasSameScope(wanted, options_)) return "include=, exclude=";
  if (!HaveSameCodes(wanted, options_)) return "codes=";
  Options resting = wanted;
  resting.probes_rest = true;
  if (resting.memory_bytes == 0) resting.memory_bytes = options_.memory_bytes;
  return ProbeOptionsOf(resting) == ProbeOptionsOf(options_) ? "" : "memory=, prune=, maxdepth=";
}

void RestingProbes::FitOptions(Options& wanted) const {
  wanted.probes_rest = WhyNot(wanted).empty();
  if (!wanted.probes_rest) return;
  wanted.include = options_.include;
  wanted.exclude = options_.exclude;
  wanted.memory_bytes = options_.memory_bytes;
}

std::unique_ptr<ProbedClasses> RestingProbes::ShareClasses(const Options& wanted) {
  return ProbedClasses::Sharing(jvm_, probe_state_, wanted, *classes_);
}

void RestingProbes::BeginTrace() {
  instrumentation().ReportUnprobedMethods(true);
  instrumentation().statistics().BeginFile();
}

void RestingProbes::EndTrace() { instrumentation().ReportUnprobedMethods(false); }

}  // namespace jtrace
