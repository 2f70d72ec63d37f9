#include "agent/recording/probed_classes.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "agent/base/class_names.h"
#include "agent/jvm/loaded_classes.h"
#include "agent/jvm/running_stacks.h"
#include "agent/recording/resting_probes.h"
#include "common/counted.h"
#include "proto/trace_format.h"

namespace jtrace {
namespace {

// A plan of this cost or more suggests narrower scopes.
constexpr absl::Duration kNeedsNarrowerScope = absl::Milliseconds(500);
// The most processor time for one batch with all classes.
constexpr absl::Duration kMaxCostAtOnce = absl::Seconds(5);
// A smaller probebudget= asks for batches.
const int kDefaultBudget = Options().probe_budget;

}  // namespace

absl::StatusOr<std::unique_ptr<ProbedClasses>> ProbedClasses::Create(JvmState& jvm,
                                                                     ProbeState& probes,
                                                                     const Options& options) {
  auto instrumentation = calls::Instrumentation::Create(
      options, jvm.registries.loaders, jvm.trace.encoder, jvm.trace.losses, jvm.trace.unprobed);
  if (!instrumentation.ok()) return instrumentation.status();
  return std::unique_ptr<ProbedClasses>(
      new ProbedClasses(jvm, probes, options, *std::move(instrumentation)));
}

std::unique_ptr<ProbedClasses> ProbedClasses::Sharing(JvmState& jvm, ProbeState& probes,
                                                      const Options& options,
                                                      const ProbedClasses& resting) {
  return std::unique_ptr<ProbedClasses>(
      new ProbedClasses(jvm, probes, options, resting.instrumentation_));
}

void ProbedClasses::AddToLoaded(JNIEnv* jni) {
  jvm::LocalFrame frame(jni);
  std::vector<jclass> classes;
  jvm::ForEachLoaded(jvm_.env, [&](jclass klass) {
    if (FindUnprobed(klass).has_value()) classes.push_back(klass);
  });
  Add(jni, classes);
  // This finds classes that were still loading when the list was made.
  loaded_have_probes_.store(true);
  AddToPrepared(jni);
}

void ProbedClasses::PlanAdding(JNIEnv* jni) {
  const jvm::LocalFrame frame(jni);
  std::vector<jclass> classes;
  std::vector<ClassBatches::Planned> planned;
  jvm::ForEachLoaded(jvm_.env, [&](jclass klass) {
    auto named = FindUnprobed(klass);
    if (!named.has_value()) return;
    classes.push_back(klass);
    planned.push_back({klass, MethodsOf(klass)});
    planned_.push_back({std::move(named->name), planned.back().methods});
  });
  if (jvm_.sampler.load() != nullptr) jvm_.registries.classes.ForgetUnsampledOldMethods();
  ReportRunningLoops(jni, classes);
  adds_at_once_ = AddsAtOnce();
  batches_.Plan(jni, planned, adds_at_once_);
  is_adding_ = true;
  if (!planned.empty()) PreferCompilers();
}

// If HotSpot discards all compiled code with the first batch anyway, small batches win nothing.
bool ProbedClasses::AddsAtOnce() const {
  return jvm_.loaded_late && !probe_state_.has_retransformed && budget_percent_ >= kDefaultBudget &&
         planned_.size() <= ClassBatches::kMaxBatchClasses &&
         calls::EstimatedCost(calls::AllOf(planned_)) <= kMaxCostAtOnce;
}

void ProbedClasses::PreferCompilers() {
  compilers_are_preferred_ = compilers_first_ && probe_state_.compilers.Begin(absl::Now());
}

void ProbedClasses::AddBatch(JNIEnv* jni, const std::function<void(jclass)>& added) {
  if (!batches_.empty()) PreferCompilers();
  batches_.RunNext(
      jni, [this](jclass klass) { return FindUnprobed(klass).has_value(); },
      [this](const std::vector<jclass>& classes) { KeepOldMethods(classes); },
      [&](const std::vector<jclass>& classes, const jvm::RetransformResult& result) {
        RecordAdded(classes, result);
        for (jclass klass : classes) added(klass);
        if (result.done > 0) probe_state_.has_retransformed = true;
      });
  if (!batches_.empty()) return;
  is_adding_ = false;
  planned_.clear();
  loaded_have_probes_.store(true);
  const jvm::LocalFrame frame(jni);
  AddToPrepared(jni);
}

std::string ProbedClasses::DescribePriority() const {
  return compilers_are_preferred_
             ? "the JVM's compilers have processor time first until they rest (compilers=asis: not)"
             : "the JVM's compilers could have processor time first, and be done sooner, if the "
               "JVM "
               "had CAP_SYS_NICE or `ulimit -e 40`";
}

std::vector<std::string> ProbedClasses::DescribePlan() const {
  const calls::ProbeWork all = calls::AllOf(planned_);
  if (all.classes == 0) return {};
  std::string cost =
      absl::StrCat("probes for ", WithNoun(all.methods, "method"), " of ",
                   WithNoun(all.classes, "class", "classes"), ": about ",
                   calls::RoughSeconds(calls::EstimatedCost(all)), " of processor time");
  if (adds_at_once_) {
    absl::StrAppend(&cost, ", at once (probebudget=10%: in batches)");
  } else if (budget_percent_ < 100) {
    absl::StrAppend(&cost, ", at most ", budget_percent_,
                    " % of one processor and at the pace of the JIT, which may last two minutes "
                    "(probebudget=100%: at once)");
  }
  std::string narrower;
  const bool is_much = calls::EstimatedCost(all) >= kNeedsNarrowerScope;
  for (const calls::NarrowerScope& scope :
       is_much ? calls::NarrowerScopes(planned_) : std::vector<calls::NarrowerScope>()) {
    absl::StrAppend(&narrower, narrower.empty() ? "" : ", ", "include=", scope.pattern, " ",
                    calls::RoughSeconds(calls::EstimatedCost(scope.work)));
  }
  std::vector<std::string> lines = {std::move(cost)};
  if (!narrower.empty()) lines.push_back(absl::StrCat("less would be ", narrower));
  if (!replaces_resting_.empty()) {
    lines.push_back(absl::StrCat("the probes that rest do not fit this recording, whose ",
                                 replaces_resting_, " differs: others take their place"));
  }
  if (jvm_.loaded_late && !probe_state_.has_retransformed) {
    lines.push_back(
        "the first probes make HotSpot discard all compiled code: the program is slow until that "
        "is compiled again; a JVM started with -agentpath:…/libjtrace.so=serve,probes=resting "
        "keeps all of it");
    if (compilers_first_) lines.push_back(DescribePriority());
  }
  return lines;
}

size_t ProbedClasses::MethodsOf(jclass klass) const {
  if (!jvm::IsPrepared(jvm_.env, klass)) return 0;
  size_t methods = 0;
  jvm_.registries.classes.ForEachMethod(klass, [&](const jvm::NamedMethod&) { ++methods; });
  return methods;
}

std::optional<ProbedClasses::NamedClass> ProbedClasses::FindModifiableInScope(jclass klass) {
  jvm::Allocated<char> signature(jvm_.env);
  if (jvm_.env->GetClassSignature(klass, signature.out(), nullptr) != JVMTI_ERROR_NONE ||
      signature.get()[0] != 'L') {
    return std::nullopt;
  }
  NamedClass named = {.name = BinaryName(signature.get())};
  const bool in_scope = instrumentation_->MayGetProbes(named.name);
  if (!in_scope && !instrumentation_->IsExempt(named.name)) return std::nullopt;
  named.number = jvm_.registries.classes.NumberOf(klass);
  if (in_scope && jvm::IsModifiable(jvm_.env, klass)) return named;
  jvm_.trace.unprobed.Add(
      in_scope ? calls::UnprobedReason::kHidden : calls::UnprobedReason::kExempt, named.number,
      named.name);
  return std::nullopt;
}

std::optional<ProbedClasses::NamedClass> ProbedClasses::FindUnprobed(jclass klass) {
  auto named = FindModifiableInScope(klass);
  if (named.has_value() &&
      (jvm::HasFailed(jvm_.env, klass) || instrumentation_->WasSeen(named->number) ||
       jvm_.trace.unprobed.Has(calls::UnprobedReason::kNotRetransformed, named->number) ||
       jvm_.trace.unprobed.Has(calls::UnprobedReason::kNotHooked, named->number))) {
    return std::nullopt;
  }
  return named;
}

void ProbedClasses::Add(JNIEnv* jni, std::span<const jclass> classes) {
  if (jvm_.sampler.load() != nullptr) jvm_.registries.classes.ForgetUnsampledOldMethods();
  KeepOldMethods(classes);
  ReportRunningLoops(jni, classes);
  RecordAdded(classes, jvm::Retransform(jvm_.env, classes));
}

void ProbedClasses::RecordAdded(std::span<const jclass> classes,
                                const jvm::RetransformResult& result) {
  for (jclass klass : classes) jvm_.registries.classes.Renumber(klass);
  for (const jvm::RefusedClass& refused : result.refused) {
    const auto named = FindModifiableInScope(refused.klass);
    if (!named.has_value()) continue;
    instrumentation_->RemoveRefused(named->number);
    // A class that cannot be linked has never run. It gets probes when it is linked.
    if (!jvm::IsPrepared(jvm_.env, refused.klass)) continue;
    jvm_.trace.unprobed.Add(calls::UnprobedReason::kNotRetransformed, named->number, named->name,
                            jvm::ErrorName(jvm_.env, refused.error));
  }
  for (jclass klass : classes) {
    RecordProbes(klass);
    const auto named = FindUnprobed(klass);
    if (!named.has_value() || !jvm::IsPrepared(jvm_.env, klass)) continue;
    jvm_.trace.unprobed.Add(calls::UnprobedReason::kNotHooked, named->number, named->name);
  }
}

// At load all classes have their probes before the program runs.
void ProbedClasses::RecordProbes(jclass klass) {
  if (!jvm_.program_runs.load()) return;
  const uint32_t number = jvm_.registries.classes.NumberOf(klass);
  if (!instrumentation_->HasProbes(number)) return;
  proto::ClassEvent details;
  details.set_class_id(number);
  jvm_.trace.encoder.AddClassEvent(
      {.time_ns = jvm_.trace.clock.Now(), .major = format::kClass, .minor = format::kClassProbed},
      std::move(details));
}

// Leaves out classes that are not linked yet: linking them could take arbitrarily long.
void ProbedClasses::AddToPrepared(JNIEnv* jni) {
  std::vector<jclass> classes;
  jvm::ForEachLoaded(jvm_.env, [&](jclass klass) {
    if (jvm::IsPrepared(jvm_.env, klass) && FindUnprobed(klass).has_value()) {
      classes.push_back(klass);
    }
  });
  if (!classes.empty()) Add(jni, classes);
}

// The class passed its class-file hook before the recording began, and was complete only after all
// loaded classes were listed: its superclass may have taken long to load. It cannot be
// retransformed here, where the JVM may hold a lock that another thread's retransformation of the
// class waits for.
bool ProbedClasses::ReportLateClass(jclass klass) {
  if (jvm::IsRetransforming()) return false;  // the retransformation links the class
  if (!loaded_have_probes_.load()) return false;
  const auto named = FindUnprobed(klass);
  if (!named.has_value()) return false;
  jvm_.trace.unprobed.Add(calls::UnprobedReason::kLate, named->number, named->name);
  has_late_.store(true);
  return true;
}

void ProbedClasses::KeepOldMethods(std::span<const jclass> classes) {
  if (jvm_.sampler.load() == nullptr) return;
  for (jclass klass : classes) {
    jvm_.registries.classes.KeepOldMethods(
        klass, [this](jmethodID id) { return jvm_.hotspot.MethodBehind(id); });
  }
}

// The JVM does not compile these loops again before they return (running_stacks.h).
void ProbedClasses::ReportRunningLoops(JNIEnv* jni, std::span<const jclass> classes) {
  if (!jvm_.program_runs.load()) return;  // at load the program does not run yet
  const std::vector<std::string> loops = jvm::FindRunningLoops(jvm_.env, jni, classes);
  if (loops.empty()) return;
  constexpr size_t kMaxNames = 3;
  const size_t named = std::min(loops.size(), kMaxNames);
  jvm_.trace.losses.Add(
      "attach.running_loops", Severity::kWarning, loops.size(),
      absl::StrCat(
          "loops that ran while probes were added or removed stay interpreted until "
          "they return: ",
          absl::StrJoin(loops.begin(), loops.begin() + static_cast<ptrdiff_t>(named), ", "),
          loops.size() > named ? ", …" : ""),
      "leave their classes out with exclude=, or load the agent with -agentpath");
}

void ProbedClasses::Remove(JNIEnv* jni, const std::function<void()>& wait_for_hooks) {
  batches_.Drop(jni);
  RemoveOnce(jni);
  // A class-file hook that runs now may still add probes, and a class that has passed its hook is
  // not listed as loaded yet. So this is repeated, but not for long: most of the classes that are
  // missing were unloaded or never created.
  for (const absl::Duration pause : {absl::Milliseconds(1), absl::Milliseconds(10)}) {
    wait_for_hooks();
    if (instrumentation_->rewritten_count() == 0) return;
    absl::SleepFor(pause);
    RemoveOnce(jni);
  }
}

std::vector<jclass> ProbedClasses::WithProbes() {
  std::vector<jclass> probed;
  if (instrumentation_->rewritten_count() == 0) return probed;
  jvm::ForEachLoaded(jvm_.env, [&](jclass klass) {
    if (!jvm::IsModifiable(jvm_.env, klass)) return;
    const uint32_t number = jvm_.registries.classes.NumberOf(klass);
    if (!instrumentation_->HasProbes(number)) return;
    if (jvm::HasFailed(jvm_.env, klass)) {
      instrumentation_->ForgetRewritten(number);
    } else {
      probed.push_back(klass);
    }
  });
  return probed;
}

void ProbedClasses::DropPlan(JNIEnv* jni) {
  is_adding_ = false;
  planned_.clear();
  batches_.Drop(jni);
}

void ProbedClasses::PlanRemoving(JNIEnv* jni) {
  const jvm::LocalFrame frame(jni);
  is_adding_ = false;
  planned_.clear();
  const std::vector<jclass> probed = WithProbes();
  std::vector<ClassBatches::Planned> planned;
  planned.reserve(probed.size());
  for (jclass klass : probed) planned.push_back({klass, MethodsOf(klass)});
  if (jvm_.sampler.load() != nullptr) jvm_.registries.classes.ForgetUnsampledOldMethods();
  ReportRunningLoops(jni, probed);
  batches_.Plan(jni, planned);
}

bool ProbedClasses::RemoveBatch(JNIEnv* jni) {
  if (batches_.empty()) return false;
  PreferCompilers();
  batches_.RunNext(
      jni, [](jclass) { return true; },
      [this](const std::vector<jclass>& classes) { KeepOldMethods(classes); },
      [this](const std::vector<jclass>& classes, const jvm::RetransformResult& result) {
        RecordRemoved(classes, result);
      });
  return !batches_.empty();
}

void ProbedClasses::RemoveOnce(JNIEnv* jni) {
  const jvm::LocalFrame frame(jni);
  const std::vector<jclass> probed = WithProbes();
  if (probed.empty()) return;
  KeepOldMethods(probed);
  RecordRemoved(probed, jvm::Retransform(jvm_.env, probed));
}

// A refused class keeps its probes, which count for nobody.
void ProbedClasses::RecordRemoved(std::span<const jclass> classes,
                                  const jvm::RetransformResult& result) {
  for (jclass klass : classes) {
    instrumentation_->ForgetRewritten(jvm_.registries.classes.NumberOf(klass));
  }
  if (result.refused.empty()) return;
  if (RestingProbes* const resting = probe_state_.resting.load(); resting != nullptr) {
    for (const jvm::RefusedClass& refused : result.refused) {
      resting->instrumentation().RemoveRefused(jvm_.registries.classes.NumberOf(refused.klass));
    }
  }
  for (const jvm::RefusedClass& refused : result.refused) {
    // It cannot be linked, so none of its code runs.
    if (!jvm::IsPrepared(jvm_.env, refused.klass)) continue;
    if (jvm::HasFailed(jvm_.env, refused.klass)) continue;
    kept_.push_back(
        absl::StrCat(NameOf(refused.klass), " (", jvm::ErrorName(jvm_.env, refused.error), ")"));
    jvm_.trace.losses.AddNamed(
        "class.probes_left", Severity::kError, kept_.back(),
        "classes whose probes the JVM did not remove: they are slower than before");
  }
}

std::string ProbedClasses::NameOf(jclass klass) const {
  const std::string name = jvm::ClassName(jvm_.env, klass);
  return name.empty() ? "[unknown]" : name;
}

std::string ProbedClasses::DescribeKeptProbes() const {
  if (kept_.empty()) return "";
  constexpr size_t kMaxNames = 3;
  const size_t named = std::min(kept_.size(), kMaxNames);
  return absl::StrCat(
      kept_.size(),
      kept_.size() == 1
          ? " class keeps its probes, and is slower than before: the JVM refused to change "
          : " classes keep their probes, and are slower than before: the JVM refused to change ",
      absl::StrJoin(kept_.begin(), kept_.begin() + static_cast<ptrdiff_t>(named), ", "),
      kept_.size() > named ? ", …" : "");
}

}  // namespace jtrace
