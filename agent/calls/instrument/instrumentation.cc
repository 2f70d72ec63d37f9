#include "agent/calls/instrument/instrumentation.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "agent/base/class_names.h"
#include "agent/calls/native_methods.h"
#include "agent/jvm/env.h"
#include "agent/options/metric_options.h"
#include "agent/samples/unwind_sites.h"
#include "agent/signal_safe/event_ring.h"
#include "agent/signal_safe/probe_memory.h"

namespace jtrace::calls {
namespace {

// The most that one class may add.
constexpr uint64_t kMaxRoutinesOfAClass = 131'072;

// The class through which threads park, whatever they use of java.util.concurrent.
constexpr std::string_view kParkClass = "java/util/concurrent/locks/LockSupport";
constexpr char kParkPattern[] = "java.util.concurrent.locks.LockSupport";

// The methods of the JDK that request and release locks (codes=+lock): they are in scope, whoever
// calls them, so the program's own locks and the JDK's queues are counted by their call paths.
constexpr char kLockPatterns[] =
    "java.util.concurrent.locks.ReentrantLock::lock;"
    "java.util.concurrent.locks.ReentrantLock::lockInterruptibly;"
    "java.util.concurrent.locks.ReentrantLock::tryLock;"
    "java.util.concurrent.locks.ReentrantLock::unlock;"
    "java.util.concurrent.locks.ReentrantReadWriteLock$*Lock::lock;"
    "java.util.concurrent.locks.ReentrantReadWriteLock$*Lock::lockInterruptibly;"
    "java.util.concurrent.locks.ReentrantReadWriteLock$*Lock::tryLock;"
    "java.util.concurrent.locks.ReentrantReadWriteLock$*Lock::unlock;"
    "java.util.concurrent.locks.StampedLock::readLock;"
    "java.util.concurrent.locks.StampedLock::readLockInterruptibly;"
    "java.util.concurrent.locks.StampedLock::writeLock;"
    "java.util.concurrent.locks.StampedLock::writeLockInterruptibly;"
    "java.util.concurrent.locks.StampedLock::tryReadLock;"
    "java.util.concurrent.locks.StampedLock::tryWriteLock;"
    "java.util.concurrent.locks.StampedLock::tryConvertTo*;"
    "java.util.concurrent.locks.StampedLock::unlock;"
    "java.util.concurrent.locks.StampedLock::unlockRead;"
    "java.util.concurrent.locks.StampedLock::unlockWrite;"
    "java.util.concurrent.locks.StampedLock::tryUnlockRead;"
    "java.util.concurrent.locks.StampedLock::tryUnlockWrite";

// As the JVM names the class that it loads: the name may not be known yet.
std::string LoadedName(const char* internal_name) {
  return internal_name != nullptr ? DottedName(internal_name) : "[unnamed]";
}

// Where exceptions are in scope, a method without a call may still run their constructors.
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

constexpr std::string_view kStreamClass = "java/io/FileInputStream";
// The second name: from JDK 20 on.
constexpr std::string_view kDispatcherClasses[] = {"sun/nio/ch/FileDispatcherImpl",
                                                   "sun/nio/ch/UnixFileDispatcherImpl"};
// The locals that hold the stream, and the descriptor that a dispatcher gets.
constexpr int kStreamLocal = 0;
constexpr int kDescriptorLocal = 1;

bool IsDispatcher(std::string_view internal_name) {
  return std::ranges::find(kDispatcherClasses, internal_name) != std::end(kDispatcherClasses);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Instrumentation>> Instrumentation::Create(
    const Options& options, jvm::LoaderNumbers& loaders, trace::RecordEncoder& encoder,
    Losses& losses, UnprobedClasses& unprobed) {
  std::vector<std::string> hooked;
  for (const native_hooks::HookSpec& spec : options.method_hooks) hooked.push_back(spec.symbol);
  if (options.codes.Has(Code::kLock)) hooked.emplace_back(kLockPatterns);
  auto filter = classfile::ScopeFilter::Create(options.include, options.exclude, hooked);
  if (!filter.ok()) return filter.status();
  auto costs = CallCosts::WithRules(options.call_costs);
  if (!costs.ok()) return costs.status();
  if (!options.boundary_costs) costs->KeepOnlyGroups();
  classfile::ProbeSpec spec = SpecFor(options, *filter);
  spec.boundary = options.CountsBoundaryCalls();
  const std::vector<std::string> metrics = RecordedMetrics(options);
  spec.timed_calls = HasMetric(metrics, metrics::Metric::kOutside);
  spec.elements = HasMetric(metrics, metrics::Metric::kOutsideElements);
  // The probe asks Strings for their length: it must not be counted.
  if (spec.elements && filter->MayMatchClass("java/lang/String")) {
    spec.elements = false;
    losses.Add("metrics.outside.elements", Severity::kWarning, 1,
               "metric that is not counted because java.lang.String is in scope: outside.elements",
               "exclude=java.lang.String");
  }
  spec.allocations = CountsAllocationSites(options.metrics);
  spec.marks_rethrows = HasMetric(metrics, metrics::Metric::kExceptions);
  spec.thrown = options.codes.Has(Code::kThrown);
  spec.caught = options.codes.Has(Code::kCaught);
  spec.monitors = options.codes.Has(Code::kLock);
  auto park_filter = classfile::ScopeFilter::Create(std::vector<std::string>{kParkPattern}, {});
  if (!park_filter.ok()) return park_filter.status();
  auto input_filter = InputFilter();
  if (!input_filter.ok()) return input_filter.status();
  auto made = std::unique_ptr<Instrumentation>(new Instrumentation(
      *std::move(filter), std::move(spec), *std::move(costs), loaders, encoder, losses, unprobed));
  const bool is_log = options.record == RecordKind::kLog;
  made->max_routines_ =
      (is_log ? signal_safe::kMaxLogRoutines : signal_safe::kMaxRoutines) - kMaxRoutinesOfAClass;
  auto unwinds = UnwindRules::Create(options.codes.Has(Code::kUnwind) ? options.AllUnwinds()
                                                                      : std::vector<UnwindRule>());
  if (!unwinds.ok()) return unwinds.status();
  made->unwinds_ = *std::move(unwinds);
  auto method_hooks = MethodHooks::Create(options.method_hooks, encoder);
  if (!method_hooks.ok()) return method_hooks.status();
  made->method_hooks_ = *std::move(method_hooks);
  made->parks_ = options.codes.Has(Code::kPark);
  made->park_filter_ = *std::move(park_filter);
  made->finds_input_ = options.boundary_costs;
  made->input_filter_ = *std::move(input_filter);
  made->clock_uses_handles_ = options.clock == Clock::kTsc || options.clock == Clock::kCpu;
  return made;
}

Instrumentation::Instrumentation(classfile::ScopeFilter filter, classfile::ProbeSpec spec,
                                 CallCosts costs, jvm::LoaderNumbers& loaders,
                                 trace::RecordEncoder& encoder, Losses& losses,
                                 UnprobedClasses& unprobed)
    : filter_(std::move(filter)),
      spec_(std::move(spec)),
      loaders_(loaders),
      encoder_(encoder),
      losses_(losses),
      unprobed_(unprobed),
      costs_(std::move(costs)) {}

bool Instrumentation::InScope(const std::string& binary_name) const {
  const std::string internal = InternalName(Std(binary_name));
  if (IsOfTheClock(internal)) return false;
  return filter_.MayMatchClass(internal) || IsParkClass(internal) || IsInputClass(internal) ||
         unwinds_.MayMatchClass(internal);
}

bool Instrumentation::IsExempt(const std::string& binary_name) const {
  return filter_.IsExempt(InternalName(Std(binary_name)));
}

bool Instrumentation::HasPassed(uint32_t class_id) const {
  {
    // IsInputClass too, which is not in the totals.
    const absl::MutexLock lock(&rewritten_mutex_);
    if (rewritten_.contains(class_id)) return true;
  }
  return totals_.Has(class_id) || unprobed_.Has(NoProbes::kUnreadable, class_id) ||
         unprobed_.Has(NoProbes::kNoNumbers, class_id);
}

uint32_t Instrumentation::ClassIdOf(const char* name, jobject loader) {
  return encoder_.ClassId(LoadedName(name), loaders_.Of(loader));
}

bool Instrumentation::IsParkClass(std::string_view internal_name) const {
  return parks_ && internal_name == kParkClass;
}

bool Instrumentation::IsInputClass(std::string_view internal_name) const {
  return finds_input_ && ReadsDescriptors(internal_name);
}

void Instrumentation::LimitToSites(std::string_view internal_name, classfile::ProbeSpec& spec,
                                   CallSites& sites) const {
  spec.methods = spec.thrown = spec.caught = spec.monitors = false;
  if (IsInputClass(internal_name)) {
    spec = InputSpec(std::move(spec), internal_name);
    return sites.WantOnly(&IsInput);
  }
  spec.boundary = IsParkClass(internal_name);
  sites.WantOnly(&IsPark);
}

// The time-stamp counter is read through a method handle, whose classes cannot be probed.
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
  const bool unwound = name == nullptr ? !unwinds_.empty() : unwinds_.MayMatchClass(name);
  const bool is_input = !in_scope && IsInputClass(name);
  if (!in_scope && !unwound && !IsParkClass(name) && !is_input) return {};
  if (encoder_.routines() >= max_routines_) {
    unprobed_.Add(NoProbes::kNoNumbers, ClassIdOf(name, loader), LoadedName(name));
    return {};
  }
  const uint32_t own_loader = loaders_.Of(loader);
  uint32_t class_id = 0;
  const auto assign_id = [&](const classfile::MethodRef& method) {
    if (class_id == 0) {
      class_id = encoder_.ClassId(DottedName(method.class_name), own_loader);
    }
    return encoder_.RoutineId(class_id, Abseil(method.name), Abseil(method.descriptor));
  };
  const auto loader_of = [&](absl::string_view callee) {
    const bool is_jdk = classfile::ScopeFilter::IsJdkClass(InternalName(Std(callee)));
    return loaders_.LoaderMeant(callee, own_loader, is_jdk ? 0 : own_loader);
  };
  CallSites sites(encoder_, costs_, natives_, own_loader, loader_of);
  classfile::ProbeSpec spec = SpecOf(unwound);
  if (!in_scope) {
    LimitToSites(name, spec, sites);
    class_id = encoder_.ClassId(DottedName(name), own_loader);
  }
  const classfile::ScopeFilter& filter =
      in_scope ? filter_ : (is_input ? input_filter_ : park_filter_);
  const auto result = classfile::Instrument(
      absl::MakeConstSpan(bytes.data(), bytes.size()), filter, spec, assign_id, &sites,
      unwound ? &unwinds_.methods() : nullptr, blocks_.get(), places_);
  if (!result.ok()) {
    unprobed_.Add(NoProbes::kUnreadable, ClassIdOf(name, loader), LoadedName(name));
    return {};
  }
  if (class_id == 0) {
    class_id = encoder_.ClassId(DottedName(result->class_name), own_loader);
  }
  if (spec_.boundary && in_scope) natives_.Add(class_id, result->methods);
  if (!is_input) Count(class_id, *result);
  NoteMethods(class_id, *result);
  if (places_ != nullptr) places_->SetCode(*result);
  if (result->bytes.empty()) return {};
  if (blocks_ != nullptr) {
    blocks_->Add(class_id, absl::MakeConstSpan(bytes.data(), bytes.size()), *result);
  }
  {
    absl::MutexLock lock(&rewritten_mutex_);
    rewritten_.insert(class_id);
    if (in_scope) counted_.insert(class_id);
  }
  return jvm::CopyForJvm(env, result->bytes);
}

bool Instrumentation::HasProbes(uint32_t class_id) const {
  absl::MutexLock lock(&rewritten_mutex_);
  return rewritten_.contains(class_id);
}

size_t Instrumentation::rewritten_count() const {
  absl::MutexLock lock(&rewritten_mutex_);
  return rewritten_.size();
}

absl::flat_hash_set<uint32_t> Instrumentation::counted() const {
  absl::MutexLock lock(&rewritten_mutex_);
  return counted_;
}

void Instrumentation::ForgetRewritten(uint32_t class_id) {
  absl::MutexLock lock(&rewritten_mutex_);
  rewritten_.erase(class_id);
}

void Instrumentation::ForgetCounted(uint32_t class_id) {
  totals_.Forget({class_id});
  absl::MutexLock lock(&rewritten_mutex_);
  std::erase_if(left_out_, [&](const LeftOut& method) { return method.class_id == class_id; });
  rewritten_.erase(class_id);
  counted_.erase(class_id);
}

void Instrumentation::ReportLeftOut(bool reports) {
  std::vector<LeftOut> left_out;
  {
    const absl::MutexLock lock(&rewritten_mutex_);
    reports_left_out_ = reports;
    if (reports) left_out = left_out_;
  }
  for (const LeftOut& method : left_out) Report(method);
}

void Instrumentation::Forget(const absl::flat_hash_set<uint32_t>& classes) {
  totals_.Forget(classes);
  natives_.Forget(classes);
  absl::MutexLock lock(&rewritten_mutex_);
  for (const uint32_t class_id : classes) {
    rewritten_.erase(class_id);
    counted_.erase(class_id);
  }
  absl::erase_if(leaves_, [&](const auto& leaf) { return classes.contains(leaf.second); });
  std::erase_if(left_out_, [&](const auto& method) { return classes.contains(method.class_id); });
}

void Instrumentation::NoteMethods(uint32_t class_id, const classfile::InstrumentResult& result) {
  NoteLeaves(class_id, result);
  NoteUnwinds(result);
  for (const classfile::MethodOutcome& outcome : result.methods) {
    if (!outcome.probed) continue;
    method_hooks_->Note(result.class_name, outcome.method.name, outcome.id);
  }
}

void Instrumentation::NoteUnwinds(const classfile::InstrumentResult& result) {
  for (const classfile::MethodOutcome& outcome : result.methods) {
    if (!outcome.unwound) continue;
    NoteMatches(result.class_name, outcome.method.name);
    const uint32_t every = unwinds_.EveryOf(result.class_name, outcome.method.name);
    if (samples::unwind_sites.Set(outcome.id, every)) continue;
    losses_.Add("unwind.no_memory", Severity::kWarning, 1, "methods whose unwinds are not taken");
  }
}

void Instrumentation::NoteMatches(std::string_view class_name, std::string_view method) {
  const absl::MutexLock lock(&rewritten_mutex_);
  for (size_t rule = 0; rule < unwinds_.size(); ++rule) {
    if (unwinds_.Matches(rule, class_name, method)) matched_unwinds_.insert(rule);
  }
}

std::vector<std::string> Instrumentation::UnmatchedUnwinds() const {
  const absl::MutexLock lock(&rewritten_mutex_);
  std::vector<std::string> patterns;
  for (size_t rule = 0; rule < unwinds_.size(); ++rule) {
    if (!matched_unwinds_.contains(rule)) patterns.push_back(unwinds_.pattern(rule));
  }
  return patterns;
}

void Instrumentation::NoteLeaves(uint32_t class_id, const classfile::InstrumentResult& result) {
  const absl::MutexLock lock(&rewritten_mutex_);
  for (const classfile::MethodOutcome& outcome : result.methods) {
    if (!outcome.probed) continue;
    // Another agent may have turned a leaf into a non-leaf, or the reverse.
    if (outcome.is_leaf) {
      leaves_[outcome.id] = class_id;
    } else {
      leaves_.erase(outcome.id);
    }
  }
}

bool Instrumentation::IsLeaf(uint32_t routine) const {
  const absl::MutexLock lock(&rewritten_mutex_);
  return leaves_.contains(routine);
}

void Instrumentation::Count(uint32_t class_id, const classfile::InstrumentResult& result) {
  if (!totals_.Count(class_id, result)) return;
  for (const classfile::MethodOutcome& outcome : result.methods) {
    if (Describe(outcome.reason).effect == classfile::Effect::kNothing) continue;
    NoteLeftOut({class_id, DottedName(result.class_name), std::string(outcome.method.name),
                 outcome.reason, result.bytes.empty()});
  }
}

void Instrumentation::NoteLeftOut(const LeftOut& method) {
  bool reports = false;
  {
    const absl::MutexLock lock(&rewritten_mutex_);
    reports = reports_left_out_;
    left_out_.push_back(method);
  }
  if (reports) Report(method);
}

void Instrumentation::Report(const LeftOut& method) {
  const classfile::ReasonInfo& reason = Describe(method.reason);
  losses_.AddNamed(absl::StrCat("method.", Abseil(reason.name)), Severity::kWarning,
                   absl::StrCat(method.class_name, ".", method.method),
                   absl::StrCat("methods: ", Abseil(reason.what)), Abseil(reason.advice));
  if (reason.effect == classfile::Effect::kUntouched && method.is_alone) {
    unprobed_.Add(NoProbes::kNoMethodFits, method.class_id, method.class_name);
  }
}

bool ReadsDescriptors(std::string_view internal_name) {
  return internal_name == kStreamClass || IsDispatcher(internal_name);
}

bool IsInput(const classfile::SiteRef& callee) {
  if (callee.class_name == kStreamClass) {
    return callee.name == "read0" || callee.name == "readBytes";
  }
  return IsDispatcher(callee.class_name) && (callee.name == "read0" || callee.name == "readv0");
}

absl::StatusOr<classfile::ScopeFilter> InputFilter() {
  std::vector<std::string> patterns = {DottedName(kStreamClass)};
  for (const std::string_view name : kDispatcherClasses) patterns.push_back(DottedName(name));
  return classfile::ScopeFilter::Create(patterns, {});
}

classfile::ProbeSpec InputSpec(classfile::ProbeSpec spec, std::string_view internal_name) {
  spec.boundary = true;
  spec.enter = spec.token == classfile::TokenKind::kNone ? "countInput" : "enterInput";
  spec.exit = "exitInput";
  spec.timed_calls = spec.elements = false;
  spec.passed_local = internal_name == kStreamClass ? kStreamLocal : kDescriptorLocal;
  return spec;
}

}  // namespace jtrace::calls
