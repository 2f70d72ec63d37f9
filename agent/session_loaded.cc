// Classes that are loaded already: probes go in at a start and come out at a stop.
#include <span>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "agent/jvmti/retransformer.h"
#include "agent/jvmti/running_loops.h"
#include "agent/session.h"

namespace jtrace {
namespace {

// Calls `visit` for every loaded class; its local references end with `frame`.
template <typename Visit>
void ForEachLoaded(jvmtiEnv* env, Visit visit) {
  jint count = 0;
  jvmti::Allocated<jclass> classes(env);
  if (env->GetLoadedClasses(&count, classes.out()) != JVMTI_ERROR_NONE) return;
  for (jint i = 0; i < count; ++i) visit(classes[i]);
}

bool IsModifiable(jvmtiEnv* env, jclass klass) {
  jboolean modifiable = JNI_FALSE;
  return env->IsModifiableClass(klass, &modifiable) == JVMTI_ERROR_NONE && modifiable == JNI_TRUE;
}

}  // namespace

// Even at load there may be classes of the program: a JVM with an AOT cache has linked them before
// VMInit. A hook at that time would cost the cache.
void Session::AddProbesToLoaded(JNIEnv* jni, const Progress& progress) {
  if (!options_.WantsEvents()) return;
  jvmti::LocalFrame frame(jni);
  std::vector<jclass> in_scope;
  ForEachLoaded(env_, [&](jclass klass) {
    jvmti::Allocated<char> signature(env_);
    if (env_->GetClassSignature(klass, signature.out(), nullptr) == JVMTI_ERROR_NONE &&
        signature.get()[0] == 'L' &&
        instrumentation_->InScope(jvmti::BinaryName(signature.get())) &&
        IsModifiable(env_, klass)) {
      in_scope.push_back(klass);
    }
  });
  NoteOldMethods(in_scope);
  TellRunningLoops(jni, in_scope);
  const jvmti::RetransformResult result =
      jvmti::Retransform(env_, in_scope, [&](size_t done, size_t all) {
        if (progress) progress(absl::StrCat("probes are in ", done, " of ", all, " classes"));
        return true;
      });
  for (jclass klass : in_scope) classes_.Renumber(klass);
  losses_.Set("class.not_retransformed", Severity::kWarning, result.refused,
              "classes loaded before the probes were ready that the JVM did not let change");
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
  ForEachLoaded(env_, [&](jclass klass) {
    if (!IsModifiable(env_, klass)) return;
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
  if (result.refused == 0) return;
  losses_.Add("class.probes_left", Severity::kError, result.refused,
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
