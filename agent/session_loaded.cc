// Classes that are loaded already: probes go in at a start and come out at a stop.
#include <span>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "agent/jvmti/retransformer.h"
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

void Session::AddProbesToLoaded(JNIEnv* jni, const Progress& progress) {
  // At load, only the JDK's classes are there, which are in scope only if asked for.
  if (!options_.WantsEvents()) return;
  if (!is_live_ && options_.include.empty() && !options_.codes.Has(Code::kPark)) return;
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

void Session::RemoveProbes(JNIEnv* jni, const Progress& progress) {
  recording_.store(false, std::memory_order_seq_cst);
  if (instrumentation_ == nullptr) return;
  // A hook that asked before may still put probes into a class that is not listed as loaded yet.
  constexpr int kRounds = 20;
  for (int round = 0; round < kRounds; ++round) {
    RemoveProbesOnce(jni, progress);
    if (class_hooks_.Idle() && instrumentation_->rewritten().empty()) return;
    absl::SleepFor(absl::Milliseconds(round));
  }
}

void Session::RemoveProbesOnce(JNIEnv* jni, const Progress& progress) {
  jvmti::LocalFrame frame(jni);
  const absl::flat_hash_set<uint32_t> rewritten = instrumentation_->rewritten();
  if (rewritten.empty()) return;
  std::vector<jclass> probed;
  ForEachLoaded(env_, [&](jclass klass) {
    if (IsModifiable(env_, klass) && rewritten.contains(classes_.NumberOf(klass))) {
      probed.push_back(klass);
    }
  });
  NoteOldMethods(probed);
  jvmti::Retransform(env_, probed, [&](size_t done, size_t all) {
    for (jclass klass : std::span(probed).first(done)) {
      instrumentation_->ForgetRewritten(classes_.NumberOf(klass));
    }
    if (progress) progress(absl::StrCat("probes are out of ", done, " of ", all, " classes"));
    return true;
  });
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
