#include "agent/session/program_packages.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "agent/base/class_names.h"
#include "agent/base/clock.h"
#include "agent/calls/instrument/program_scope.h"
#include "agent/jvm/jvmti_calls.h"
#include "agent/jvm/loaded_classes.h"
#include "agent/jvm/running_stacks.h"
#include "agent/recording/resting_probes.h"
#include "common/counted.h"
#include "common/scope_filter.h"

namespace jtrace {
namespace {

// In ns. Reading all stacks stops all threads, for some milliseconds if they are many. It takes at
// most a tenth of the time: each pause is at least nine times as long as the reading before it.
constexpr uint64_t kDuration = 1'000'000'000;
constexpr uint64_t kMinPeriod = 50'000'000;
constexpr uint64_t kMinPauseToRead = 9;

std::vector<calls::ClassToProbe> LoadedInScope(JvmState& jvm, JNIEnv* jni,
                                               const classfile::ScopeFilter& filter) {
  jvm.registries.classes.ReadJvm(jvm.libjvm_address());
  const jvm::LocalFrame frame(jni);
  std::vector<calls::ClassToProbe> classes;
  jvm::ForEachLoaded(jvm.env, [&](jclass klass) {
    const std::string name = jvm::ClassName(jvm.env, klass);
    if (!filter.MayMatchClass(InternalName(name)) || !jvm::IsModifiable(jvm.env, klass) ||
        !jvm::IsPrepared(jvm.env, klass)) {
      return;
    }
    calls::ClassToProbe& added = classes.emplace_back(calls::ClassToProbe{.name = name});
    jvm.registries.classes.ForEachMethod(klass, [&](const jvm::NamedMethod&) { ++added.methods; });
  });
  return classes;
}

// The packages in scope on the stacks of threads that run Java code.
class StackPackages {
 public:
  StackPackages(jvmtiEnv* env, JNIEnv* jni, const classfile::ScopeFilter& filter)
      : env_(env), jni_(jni), filter_(filter) {}

  void ReadAll() {
    const jvm::LocalFrame frame(jni_);
    jvm::ForEachRunningStack(env_, [this](std::span<const jvmtiFrameInfo> frames) { Add(frames); });
  }

  std::span<const calls::PackagesOfStack> stacks() const { return stacks_; }

 private:
  void Add(std::span<const jvmtiFrameInfo> frames) {
    std::set<std::string> packages;
    for (const jvmtiFrameInfo& frame : frames) packages.insert(PackageOfMethod(frame.method));
    packages.erase("");
    if (!packages.empty()) stacks_.emplace_back(packages.begin(), packages.end());
  }

  // "" for a class out of scope.
  const std::string& PackageOfMethod(jmethodID method) {
    const auto [known, is_new] = packages_.try_emplace(method);
    if (!is_new) return known->second;
    jclass owner = nullptr;
    if (env_->GetMethodDeclaringClass(method, &owner) != JVMTI_ERROR_NONE) return known->second;
    const jvm::LocalRef<jclass> owned(jni_, owner);
    const std::string name = jvm::ClassName(env_, owner);
    if (filter_.MayMatchClass(InternalName(name))) known->second = calls::PackageOf(name);
    return known->second;
  }

  jvmtiEnv* env_;
  JNIEnv* jni_;
  const classfile::ScopeFilter& filter_;
  absl::flat_hash_map<jmethodID, std::string> packages_;
  std::vector<calls::PackagesOfStack> stacks_;
};

// "" if the command names a jar.
std::string MainClass(jvmtiEnv* env) {
  std::string command = jvm::SystemProperty(env, "sun.java.command");
  command.resize(std::min(command.find(' '), command.size()));
  if (command.ends_with(".jar")) return "";
  return command.substr(command.find('/') + 1);  // of "module/com.acme.Main", too
}

std::string Describe(const calls::ProgramScope& own, const calls::ProbeWork& all) {
  return absl::StrCat("counts the program's own packages, ", WithNoun(own.work.methods, "method"),
                      " of ", all.methods, ": include=", absl::StrJoin(own.patterns, ";"),
                      "; --all counts everything, for about ",
                      calls::RoughSeconds(calls::EstimatedCost(all)), " of processor time");
}

}  // namespace

std::optional<ProgramPackages> ProgramPackages::Wanted(AgentState& agent, JNIEnv* jni,
                                                       Options& options) {
  if (!std::exchange(options.includes_own, false) || !options.include.empty()) return std::nullopt;
  if (!options.WantsCalls()) return std::nullopt;
  const RestingProbes* const resting = agent.probes.resting.load();
  if (resting != nullptr && resting->WhyNot(options).empty()) return std::nullopt;  // they fit
  auto filter = classfile::ScopeFilter::Create({}, options.exclude);
  if (!filter.ok()) return std::nullopt;  // the start reports it
  std::vector<calls::ClassToProbe> classes = LoadedInScope(agent.jvm, jni, *filter);
  if (calls::EstimatedCost(calls::AllOf(classes)) <= calls::kCostOfProgramScope)
    return std::nullopt;
  return ProgramPackages(agent.jvm.env, jni, *std::move(filter), std::move(classes));
}

std::vector<std::string> ProgramPackages::Choose(const CommandContext& context) const {
  StackPackages packages(env_, jni_, filter_);
  const uint64_t end = MonotonicNanos() + kDuration;
  bool may_wait = true;
  for (uint64_t begin = MonotonicNanos(); may_wait; begin = MonotonicNanos()) {
    packages.ReadAll();
    const uint64_t now = MonotonicNanos();
    const uint64_t next = now + std::max(kMinPeriod, kMinPauseToRead * (now - begin));
    if (next >= end) break;
    // A pause ends early when a question was served.
    for (uint64_t at = now; may_wait && at < next; at = MonotonicNanos()) {
      may_wait = context.pause(absl::Nanoseconds(next - at), CommandContext::kQueries);
    }
  }
  calls::ProgramScope own = calls::ChooseProgramScope(classes_, MainClass(env_), packages.stacks());
  if (!own.patterns.empty()) context.report(Describe(own, calls::AllOf(classes_)));
  return std::move(own.patterns);
}

}  // namespace jtrace
