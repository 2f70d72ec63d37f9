// Classes that are loaded already: probes go in at a start and come out at a stop; which classes in
// scope have none.
#include <span>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "agent/jvmti/loaded_classes.h"
#include "agent/jvmti/retransformer.h"
#include "agent/jvmti/running_loops.h"
#include "agent/session/session.h"
#include "agent/session/session_control.h"

namespace jtrace {

// Even at load there may be classes of the program: a JVM with an AOT cache has linked them before
// VMInit. A hook at that time would cost the cache.
void Session::AddProbesToLoaded(JNIEnv* jni, const Progress& progress) {
  if (!options_.WantsEvents()) return;
  jvmti::LocalFrame frame(jni);
  std::vector<jclass> classes;
  jvmti::ForEachLoaded(env_, [&](jclass klass) {
    if (WithoutProbes(klass).has_value()) classes.push_back(klass);
  });
  AddProbes(jni, classes, progress);
  // Classes that were not loaded completely when the list was made: those that are by now.
  loaded_have_probes_.store(true);
  AddProbesToPrepared(jni);
}

std::optional<Session::NamedClass> Session::InScope(jclass klass) {
  jvmti::Allocated<char> signature(env_);
  if (env_->GetClassSignature(klass, signature.out(), nullptr) != JVMTI_ERROR_NONE ||
      signature.get()[0] != 'L') {
    return std::nullopt;
  }
  NamedClass named = {.name = jvmti::BinaryName(signature.get())};
  const bool in_scope = instrumentation_->InScope(named.name);
  if (!in_scope && !instrumentation_->IsExempt(named.name)) return std::nullopt;
  named.number = classes_.NumberOf(klass);
  if (in_scope && jvmti::IsModifiable(env_, klass)) return named;
  unprobed_.Add(in_scope ? NoProbes::kHidden : NoProbes::kExempt, named.number, named.name);
  return std::nullopt;
}

std::optional<Session::NamedClass> Session::WithoutProbes(jclass klass) {
  auto named = InScope(klass);
  if (named.has_value() && (instrumentation_->HasPassed(named->number) ||
                            unprobed_.Has(NoProbes::kNotRetransformed, named->number) ||
                            unprobed_.Has(NoProbes::kNotHooked, named->number))) {
    return std::nullopt;
  }
  return named;
}

void Session::AddProbes(JNIEnv* jni, std::span<const jclass> classes, const Progress& progress) {
  NoteOldMethods(classes);
  TellRunningLoops(jni, classes);
  const jvmti::RetransformResult result =
      jvmti::Retransform(env_, classes, [&](size_t done, size_t all) {
        if (progress) progress(absl::StrCat("probes are in ", done, " of ", all, " classes"));
        return true;
      });
  for (jclass klass : classes) classes_.Renumber(klass);
  for (const jvmti::RefusedClass& refused : result.refused) {
    // One that cannot be linked has never run: its turn comes when it is.
    if (!jvmti::IsPrepared(env_, refused.klass)) continue;
    const auto named = InScope(refused.klass);
    if (!named.has_value()) continue;
    instrumentation_->ForgetCounted(named->number);
    unprobed_.Add(NoProbes::kNotRetransformed, named->number, named->name,
                  jvmti::ErrorName(env_, refused.error));
  }
  for (jclass klass : classes) {
    const auto named = WithoutProbes(klass);
    if (!named.has_value() || !jvmti::IsPrepared(env_, klass)) continue;
    unprobed_.Add(NoProbes::kNotHooked, named->number, named->name);
  }
}

// Linking one that is not linked yet could take as long as its program likes.
void Session::AddProbesToPrepared(JNIEnv* jni) {
  std::vector<jclass> classes;
  jvmti::ForEachLoaded(env_, [&](jclass klass) {
    if (jvmti::IsPrepared(env_, klass) && WithoutProbes(klass).has_value()) {
      classes.push_back(klass);
    }
  });
  if (!classes.empty()) AddProbes(jni, classes, nullptr);
}

// The class was behind its hook before the recording began and complete after all loaded classes
// were listed: its superclass may have taken long to load. It cannot be retransformed here, where
// the JVM may hold a lock that another thread's retransformation of the class waits for.
void Session::NoteLateClass(jclass klass) {
  if (instrumentation_ == nullptr || !recording_.load(std::memory_order_acquire)) return;
  if (jvmti::IsRetransforming()) return;  // which links it first
  if (!loaded_have_probes_.load()) return;
  const auto named = WithoutProbes(klass);
  if (!named.has_value()) return;
  unprobed_.Add(NoProbes::kLate, named->number, named->name);
  has_late_classes_.store(true);
  if (control::SessionControl* control = control_.load(); control != nullptr) control->Wake();
}

void Session::AddProbesToLateClasses(JNIEnv* jni) {
  absl::MutexLock lock(&lifecycle_);
  if (!recording_.load()) return;
  jvmti::LocalFrame frame(jni);
  AddProbesToPrepared(jni);
}

// Threads that stand in the methods of these classes go on in them as they were.
void Session::NoteOldMethods(std::span<const jclass> classes) {
  if (sampler_ == nullptr) return;
  classes_.ForgetIdleOldMethods();
  for (jclass klass : classes) {
    classes_.NoteOldMethods(klass, [this](jmethodID id) { return sampler_->MethodBehind(id); });
  }
}

// The JVM will not compile them again before they return (running_loops.h).
void Session::TellRunningLoops(JNIEnv* jni, std::span<const jclass> classes) {
  if (!is_live_) return;  // at load nothing of the program runs yet
  const std::vector<std::string> loops = jvmti::FindRunningLoops(env_, jni, classes);
  if (loops.empty()) return;
  constexpr size_t kMostNames = 3;
  const size_t named = std::min(loops.size(), kMostNames);
  losses_.Add("attach.running_loops", Severity::kWarning, loops.size(),
              absl::StrCat(
                  "loops that ran while probes came or went stay interpreted until they "
                  "return: ",
                  absl::StrJoin(loops.begin(), loops.begin() + static_cast<ptrdiff_t>(named), ", "),
                  loops.size() > named ? ", …" : ""),
              "leave their classes out with exclude=, or load the agent with -agentpath");
}

void Session::RemoveProbes(JNIEnv* jni, const Progress& progress) {
  recording_.store(false, std::memory_order_seq_cst);
  if (instrumentation_ == nullptr) return;
  RemoveProbesOnce(jni, progress);
  // A hook that asked before may still put probes into its class, and a class behind its hook is
  // not listed as loaded yet; but most that are missing have gone, or never came to be.
  for (const absl::Duration pause : {absl::Milliseconds(1), absl::Milliseconds(10)}) {
    WaitForClassHooks();
    if (instrumentation_->rewritten().empty()) return;
    absl::SleepFor(pause);
    RemoveProbesOnce(jni, progress);
  }
}

namespace {

template <typename Condition>
void WaitUntil(Condition condition) {
  for (int i = 0; i < 1000 && !condition(); ++i) absl::SleepFor(absl::Milliseconds(1));
}

}  // namespace

void Session::WaitForClassHooks() const {
  WaitUntil([this] { return class_hooks_.Idle(); });
}

void Session::WaitForCallbacks() const {
  WaitForClassHooks();
  WaitUntil([this] { return callbacks_.Idle(); });
}

void Session::WaitForGivingUp() const {
  WaitUntil([this] { return has_failed(); });
}

void Session::RemoveProbesOnce(JNIEnv* jni, const Progress& progress) {
  jvmti::LocalFrame frame(jni);
  const absl::flat_hash_set<uint32_t> rewritten = instrumentation_->rewritten();
  if (rewritten.empty()) return;
  std::vector<jclass> probed;
  std::vector<uint32_t> numbers;
  jvmti::ForEachLoaded(env_, [&](jclass klass) {
    if (!jvmti::IsModifiable(env_, klass)) return;
    const uint32_t number = classes_.NumberOf(klass);
    if (!rewritten.contains(number)) return;
    probed.push_back(klass);
    numbers.push_back(number);
  });
  NoteOldMethods(probed);
  TellRunningLoops(jni, probed);
  const jvmti::RetransformResult result =
      jvmti::Retransform(env_, probed, [&](size_t done, size_t all) {
        if (progress) progress(absl::StrCat("probes are out of ", done, " of ", all, " classes"));
        return true;
      });
  for (const uint32_t number : numbers) instrumentation_->ForgetRewritten(number);
  if (result.refused.empty()) return;
  losses_.Add("class.probes_left", Severity::kError, result.refused.size(),
              "classes that the JVM did not let lose their probes: they are slower than before");
}

void Session::TellWhatComesTooLate() {
  for (const std::string& what : granted_.refused) {
    losses_.Add("attach.refused", Severity::kWarning, 1,
                absl::StrCat("not to be had in a JVM that runs already: ", what),
                "start the program with -agentpath");
  }
  if (options_.WantsSamples()) {
    losses_.Add("attach.debug_info", Severity::kInfo, 1,
                "code compiled before the attach tells inlined methods only at calls",
                "start the program with -agentpath, or with -XX:+UnlockDiagnosticVMOptions "
                "-XX:+DebugNonSafepoints");
  }
}

}  // namespace jtrace
