#include "agent/session/probed_classes.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "agent/base/class_names.h"
#include "agent/jvmti/loaded_classes.h"
#include "agent/jvmti/retransformer.h"
#include "agent/jvmti/running_loops.h"

namespace jtrace {

absl::StatusOr<std::unique_ptr<ProbedClasses>> ProbedClasses::Create(JvmParts& jvm,
                                                                     const Options& options) {
  auto instrumentation = Instrumentation::Create(options, jvm.registries.loaders, jvm.trace.encoder,
                                                 jvm.trace.losses, jvm.trace.unprobed);
  if (!instrumentation.ok()) return instrumentation.status();
  return std::unique_ptr<ProbedClasses>(new ProbedClasses(jvm, *std::move(instrumentation)));
}

void ProbedClasses::AddToLoaded(JNIEnv* jni, const Progress& progress) {
  jvmti::LocalFrame frame(jni);
  std::vector<jclass> classes;
  jvmti::ForEachLoaded(jvm_.env, [&](jclass klass) {
    if (WithoutProbes(klass).has_value()) classes.push_back(klass);
  });
  Add(jni, classes, progress);
  // Classes that were still loading when the list was made, and are loaded now.
  loaded_have_probes_.store(true);
  AddToPrepared(jni);
}

std::optional<ProbedClasses::NamedClass> ProbedClasses::InScope(jclass klass) {
  jvmti::Allocated<char> signature(jvm_.env);
  if (jvm_.env->GetClassSignature(klass, signature.out(), nullptr) != JVMTI_ERROR_NONE ||
      signature.get()[0] != 'L') {
    return std::nullopt;
  }
  NamedClass named = {.name = BinaryName(signature.get())};
  const bool in_scope = instrumentation_->InScope(named.name);
  if (!in_scope && !instrumentation_->IsExempt(named.name)) return std::nullopt;
  named.number = jvm_.registries.classes.NumberOf(klass);
  if (in_scope && jvmti::IsModifiable(jvm_.env, klass)) return named;
  jvm_.trace.unprobed.Add(in_scope ? NoProbes::kHidden : NoProbes::kExempt, named.number,
                          named.name);
  return std::nullopt;
}

std::optional<ProbedClasses::NamedClass> ProbedClasses::WithoutProbes(jclass klass) {
  auto named = InScope(klass);
  if (named.has_value() && (instrumentation_->HasPassed(named->number) ||
                            jvm_.trace.unprobed.Has(NoProbes::kNotRetransformed, named->number) ||
                            jvm_.trace.unprobed.Has(NoProbes::kNotHooked, named->number))) {
    return std::nullopt;
  }
  return named;
}

void ProbedClasses::Add(JNIEnv* jni, std::span<const jclass> classes, const Progress& progress) {
  NoteOldMethods(classes);
  ReportRunningLoops(jni, classes);
  const jvmti::RetransformResult result =
      jvmti::Retransform(jvm_.env, classes, [&](size_t done, size_t all) {
        if (progress) progress(absl::StrCat("probes are in ", done, " of ", all, " classes"));
        return true;
      });
  for (jclass klass : classes) jvm_.registries.classes.Renumber(klass);
  for (const jvmti::RefusedClass& refused : result.refused) {
    // A class that cannot be linked has never run. It gets probes when it is linked.
    if (!jvmti::IsPrepared(jvm_.env, refused.klass)) continue;
    const auto named = InScope(refused.klass);
    if (!named.has_value()) continue;
    instrumentation_->ForgetCounted(named->number);
    jvm_.trace.unprobed.Add(NoProbes::kNotRetransformed, named->number, named->name,
                            jvmti::ErrorName(jvm_.env, refused.error));
  }
  for (jclass klass : classes) {
    const auto named = WithoutProbes(klass);
    if (!named.has_value() || !jvmti::IsPrepared(jvm_.env, klass)) continue;
    jvm_.trace.unprobed.Add(NoProbes::kNotHooked, named->number, named->name);
  }
}

// Linking a class that is not linked yet could take arbitrarily long.
void ProbedClasses::AddToPrepared(JNIEnv* jni) {
  std::vector<jclass> classes;
  jvmti::ForEachLoaded(jvm_.env, [&](jclass klass) {
    if (jvmti::IsPrepared(jvm_.env, klass) && WithoutProbes(klass).has_value()) {
      classes.push_back(klass);
    }
  });
  if (!classes.empty()) Add(jni, classes, nullptr);
}

// The class passed its class-file hook before the recording began, and was complete only after all
// loaded classes were listed: its superclass may have taken long to load. It cannot be
// retransformed here, where the JVM may hold a lock that another thread's retransformation of the
// class waits for.
bool ProbedClasses::NoteLate(jclass klass) {
  if (jvmti::IsRetransforming()) return false;  // which links it first
  if (!loaded_have_probes_.load()) return false;
  const auto named = WithoutProbes(klass);
  if (!named.has_value()) return false;
  jvm_.trace.unprobed.Add(NoProbes::kLate, named->number, named->name);
  has_late_.store(true);
  return true;
}

void ProbedClasses::NoteOldMethods(std::span<const jclass> classes) {
  const sampling::Sampler* const sampler = jvm_.sampler.load();
  if (sampler == nullptr) return;
  jvm_.registries.classes.ForgetIdleOldMethods();
  for (jclass klass : classes) {
    jvm_.registries.classes.NoteOldMethods(
        klass, [sampler](jmethodID id) { return sampler->MethodBehind(id); });
  }
}

// The JVM will not compile them again before they return (running_loops.h).
void ProbedClasses::ReportRunningLoops(JNIEnv* jni, std::span<const jclass> classes) {
  if (!jvm_.is_live.load()) return;  // at load the program does not run yet
  const std::vector<std::string> loops = jvmti::FindRunningLoops(jvm_.env, jni, classes);
  if (loops.empty()) return;
  constexpr size_t kMostNames = 3;
  const size_t named = std::min(loops.size(), kMostNames);
  jvm_.trace.losses.Add(
      "attach.running_loops", Severity::kWarning, loops.size(),
      absl::StrCat(
          "loops that ran while probes were added or removed stay interpreted until "
          "they return: ",
          absl::StrJoin(loops.begin(), loops.begin() + static_cast<ptrdiff_t>(named), ", "),
          loops.size() > named ? ", …" : ""),
      "leave their classes out with exclude=, or load the agent with -agentpath");
}

void ProbedClasses::Remove(JNIEnv* jni, const Progress& progress,
                           const std::function<void()>& wait_for_hooks) {
  RemoveOnce(jni, progress);
  // A hook that asked before may still put probes into its class, and a class that has passed its
  // hook is not yet listed as loaded. But most of the missing classes were unloaded or never
  // created.
  for (const absl::Duration pause : {absl::Milliseconds(1), absl::Milliseconds(10)}) {
    wait_for_hooks();
    if (instrumentation_->rewritten().empty()) return;
    absl::SleepFor(pause);
    RemoveOnce(jni, progress);
  }
}

void ProbedClasses::RemoveOnce(JNIEnv* jni, const Progress& progress) {
  jvmti::LocalFrame frame(jni);
  const absl::flat_hash_set<uint32_t> rewritten = instrumentation_->rewritten();
  if (rewritten.empty()) return;
  std::vector<jclass> probed;
  std::vector<uint32_t> numbers;
  jvmti::ForEachLoaded(jvm_.env, [&](jclass klass) {
    if (!jvmti::IsModifiable(jvm_.env, klass)) return;
    const uint32_t number = jvm_.registries.classes.NumberOf(klass);
    if (!rewritten.contains(number)) return;
    probed.push_back(klass);
    numbers.push_back(number);
  });
  NoteOldMethods(probed);
  ReportRunningLoops(jni, probed);
  const jvmti::RetransformResult result =
      jvmti::Retransform(jvm_.env, probed, [&](size_t done, size_t all) {
        if (progress) progress(absl::StrCat("probes are out of ", done, " of ", all, " classes"));
        return true;
      });
  for (const uint32_t number : numbers) instrumentation_->ForgetRewritten(number);
  if (result.refused.empty()) return;
  jvm_.trace.losses.Add("class.probes_left", Severity::kError, result.refused.size(),
                        "classes whose probes the JVM did not remove: they are slower than before");
}

}  // namespace jtrace
