#include "agent/calls/instrument/instrumentation.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/strings/match.h"
#include "absl/types/span.h"
#include "agent/base/class_names.h"
#include "agent/calls/probe_natives.h"
#include "agent/jvm/jvmti_calls.h"
#include "agent/options/metric_options.h"
#include "agent/signal_safe/log_ring.h"
#include "agent/signal_safe/routine_id.h"

namespace jtrace::calls {
namespace {

// The most routines that one class may add: its methods and the targets of its probe points.
constexpr uint64_t kMaxRoutinesOfAClass = 131'072;

// Returns the name of a class that is being loaded, which the JVM may not know yet.
std::string LoadedName(const char* internal_name) {
  return internal_name != nullptr ? DottedName(internal_name) : "[unnamed]";
}

// If Throwable is in scope, a method that calls nothing may still run an exception's constructor.
classfile::ProbeSpec SpecFor(const Options& options, const classfile::ScopeFilter& filter) {
  if (options.record == RecordKind::kFlat) return classfile::ProbeSpec::Flat();
  // A leaf that is only counted has neither an exit at which to charge anything nor a place in a
  // log.
  const bool needs_exits = options.record == RecordKind::kLog || options.clock != Clock::kNone ||
                           !options.metrics.empty();
  return needs_exits || filter.MayMatchClass("java/lang/Throwable")
             ? classfile::ProbeSpec::Tree()
             : classfile::ProbeSpec::TreeWithLeaves();
}

// Returns the probes that the options ask for, without outside.elements if that cannot be counted.
classfile::ProbeSpec SpecOfOptions(const Options& options, const classfile::ScopeFilter& filter,
                                   Losses& losses) {
  classfile::ProbeSpec spec = SpecFor(options, filter);
  spec.boundary = options.CountsBoundaryCalls();
  const std::vector<std::string> metrics = RecordedMetrics(options);
  spec.timed_calls = HasMetric(metrics, metrics::Metric::kOutside);
  spec.elements = HasMetric(metrics, metrics::Metric::kBoundaryElements);
  // The probe calls String.length, which therefore must have no probe.
  if (spec.elements && filter.MayMatchClass("java/lang/String")) {
    spec.elements = false;
    losses.Add("metrics.outside.elements", Severity::kWarning, 1,
               "metric that is not counted because java.lang.String is in scope: outside.elements",
               "exclude=java.lang.String");
  }
  spec.allocations = CountsAllocationSites(options.metrics);
  spec.tags_rethrows = HasMetric(metrics, metrics::Metric::kExceptions);
  spec.thrown = options.codes.Has(Code::kThrown);
  spec.caught = options.codes.Has(Code::kCaught);
  spec.monitors = options.codes.Has(Code::kLock);
  return spec;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Instrumentation>> Instrumentation::Create(
    const Options& options, jvm::LoaderIds& loaders, trace::RecordEncoder& encoder, Losses& losses,
    UnprobedClasses& unprobed) {
  std::vector<std::string> hooked;
  for (const native_hooks::HookSpec& spec : options.method_hooks) hooked.push_back(spec.symbol);
  if (options.codes.Has(Code::kLock)) hooked.emplace_back(kLockMethods);
  auto filter = classfile::ScopeFilter::Create(options.include, options.exclude, hooked);
  if (!filter.ok()) return filter.status();
  auto costs = CallCosts::WithRules(options.call_costs);
  if (!costs.ok()) return costs.status();
  if (!options.boundary_costs) costs->KeepOnlyGroups();
  auto jdk_points = JdkProbePoints::Create(options);
  if (!jdk_points.ok()) return jdk_points.status();
  auto unwinds = UnwindRules::Create(options.codes.Has(Code::kUnwind) ? options.AllUnwinds()
                                                                      : std::vector<UnwindRule>());
  if (!unwinds.ok()) return unwinds.status();
  auto method_hooks = MethodHookMatcher::Create(options.method_hooks, encoder);
  if (!method_hooks.ok()) return method_hooks.status();
  classfile::ProbeSpec spec = SpecOfOptions(options, *filter, losses);
  const bool is_log = options.record == RecordKind::kLog;
  return absl::WrapUnique(new Instrumentation(
      {.filter = *std::move(filter),
       .spec = std::move(spec),
       .costs = *std::move(costs),
       .unwinds = *std::move(unwinds),
       .jdk_points = *std::move(jdk_points),
       .method_hooks = *std::move(method_hooks),
       .max_routines = (is_log ? signal_safe::kMaxLogRoutines : signal_safe::kMaxRoutines) -
                       kMaxRoutinesOfAClass,
       .clock_uses_handles = options.clock == Clock::kTsc || options.clock == Clock::kCpu},
      loaders, encoder, losses, unprobed));
}

Instrumentation::Instrumentation(Configuration configuration, jvm::LoaderIds& loaders,
                                 trace::RecordEncoder& encoder, Losses& losses,
                                 UnprobedClasses& unprobed)
    : filter_(std::move(configuration.filter)),
      spec_(std::move(configuration.spec)),
      costs_(std::move(configuration.costs)),
      jdk_points_(std::move(configuration.jdk_points)),
      max_routines_(configuration.max_routines),
      clock_uses_handles_(configuration.clock_uses_handles),
      loaders_(loaders),
      encoder_(encoder),
      losses_(losses),
      unprobed_classes_(unprobed),
      unprobed_methods_(losses, unprobed),
      unwinds_(std::move(configuration.unwinds), losses),
      method_hooks_(std::move(configuration.method_hooks)) {}

bool Instrumentation::MayGetProbes(const std::string& binary_name) const {
  const std::string internal = InternalName(Std(binary_name));
  if (IsOfTheClock(internal)) return false;
  return filter_.MayMatchClass(internal) || jdk_points_.Contains(internal) ||
         unwinds_.MayMatchClass(internal.c_str());
}

bool Instrumentation::IsExempt(const std::string& binary_name) const {
  return filter_.IsExempt(InternalName(Std(binary_name)));
}

bool Instrumentation::WasSeen(uint32_t class_id) const {
  // Classes of JdkProbePoints may be in rewritten_ without being in the totals.
  return rewritten_.Contains(class_id) || statistics_.Has(class_id) ||
         unprobed_classes_.Has(UnprobedReason::kUnreadable, class_id) ||
         unprobed_classes_.Has(UnprobedReason::kNoNumbers, class_id);
}

uint32_t Instrumentation::ClassIdOf(const char* name, jobject loader) {
  return encoder_.ClassNumber(LoadedName(name), loaders_.Of(loader));
}

// clock=tsc and clock=cpu are read through a method handle, whose classes cannot be probed.
bool Instrumentation::IsOfTheClock(absl::string_view internal_name) const {
  return clock_uses_handles_ && (absl::StartsWith(internal_name, "java/lang/invoke/") ||
                                 absl::StartsWith(internal_name, "jdk/internal/foreign/"));
}

classfile::ProbeSpec Instrumentation::SpecOf(bool unwound) {
  classfile::ProbeSpec spec = spec_;
  if (unwound) spec.unwind_owner = std::string(kUnwindClass);
  if (blocks_ != nullptr && !blocks_->HasRoom()) {
    spec.block_owner.clear();
    losses_.Add("blocks.no_numbers", Severity::kWarning, 1,
                "classes whose blocks are not counted: there are 16 million counters",
                "count fewer classes: include=com.acme.**");
  }
  return spec;
}

std::span<unsigned char> Instrumentation::Rewrite(jvmtiEnv* env, const char* name, jobject loader,
                                                  std::span<const unsigned char> bytes) {
  if (name != nullptr && IsOfTheClock(name)) return {};
  const bool in_scope = name == nullptr || filter_.MayMatchClass(name);
  const bool unwound = unwinds_.MayMatchClass(name);
  if (!in_scope && !unwound && !jdk_points_.Contains(name)) return {};
  if (encoder_.routines() >= max_routines_) {
    unprobed_classes_.Add(UnprobedReason::kNoNumbers, ClassIdOf(name, loader), LoadedName(name));
    return {};
  }
  const uint32_t own_loader = loaders_.Of(loader);
  uint32_t class_id = 0;
  const auto assign_id = [&](const classfile::MethodDeclaration& method) {
    if (class_id == 0) {
      class_id = encoder_.ClassNumber(DottedName(method.class_name), own_loader);
    }
    return encoder_.RoutineNumber(class_id, Abseil(method.name), Abseil(method.descriptor));
  };
  const auto loader_of = [&](absl::string_view callee) {
    const bool is_jdk = classfile::ScopeFilter::IsJdkClass(InternalName(Std(callee)));
    return loaders_.ResolveLoader(callee, own_loader, is_jdk ? 0 : own_loader);
  };
  RoutineTargets targets(encoder_, costs_, natives_, own_loader, loader_of);
  classfile::ProbeSpec spec = SpecOf(unwound);
  if (!in_scope) {
    jdk_points_.Limit(name, spec, targets);
    class_id = encoder_.ClassNumber(DottedName(name), own_loader);
  } else if (name != nullptr) {
    jdk_points_.AddParks(name, spec, targets);
  }
  const auto result =
      classfile::RewriteClass(absl::MakeConstSpan(bytes.data(), bytes.size()),
                              {.filter = in_scope ? filter_ : jdk_points_.FilterOf(name),
                               .spec = spec,
                               .assign_id = assign_id,
                               .targets = &targets,
                               .unwinds = unwound ? &unwinds_.methods() : nullptr,
                               .counters = blocks_.get(),
                               .call_sites = call_sites_});
  if (!result.ok()) {
    unprobed_classes_.Add(UnprobedReason::kUnreadable, ClassIdOf(name, loader), LoadedName(name));
    return {};
  }
  if (class_id == 0) {
    class_id = encoder_.ClassNumber(DottedName(result->class_name), own_loader);
  }
  Record(class_id, in_scope, !in_scope && jdk_points_.IsInputClass(name), *result);
  if (result->bytes.empty()) return {};
  if (blocks_ != nullptr) {
    blocks_->Add(class_id, absl::MakeConstSpan(bytes.data(), bytes.size()), *result);
  }
  rewritten_.Add(class_id, in_scope);
  return jvm::CopyForJvm(env, result->bytes);
}

void Instrumentation::Record(uint32_t class_id, bool in_scope, bool is_input,
                             const classfile::RewriteResult& result) {
  if (spec_.boundary && in_scope) natives_.Add(class_id, result.methods);
  if (!is_input && statistics_.Count(class_id, result)) unprobed_methods_.Add(class_id, result);
  rewritten_.SetLeaves(class_id, result);
  unwinds_.Add(result);
  method_hooks_->Add(result);
  if (call_sites_ != nullptr) call_sites_->SetCode(result);
}

void Instrumentation::RemoveRefused(uint32_t class_id) {
  statistics_.Forget({class_id});
  unprobed_methods_.Forget({class_id});
  rewritten_.Remove(class_id);
}

void Instrumentation::Forget(const absl::flat_hash_set<uint32_t>& classes) {
  statistics_.Forget(classes);
  natives_.Forget(classes);
  unprobed_methods_.Forget(classes);
  rewritten_.Forget(classes);
}

}  // namespace jtrace::calls
