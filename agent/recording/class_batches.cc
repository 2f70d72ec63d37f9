#include "agent/recording/class_batches.h"

#include <unistd.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "agent/base/clock.h"
#include "agent/base/thread_cpu.h"
#include "agent/jvm/jvmti_calls.h"
#include "common/counted.h"
#include "common/thousands.h"

namespace jtrace {
namespace {

// The longest pause between two batches.
constexpr absl::Duration kMaxBatchPause = absl::Seconds(10);
// The compilers rest when none of them wanted a processor in kQuietChecks checks in a row.
constexpr int kQuietChecks = 3;
constexpr absl::Duration kCheckPeriod = absl::Milliseconds(15);
// A program may keep the compilers busy by itself, for instance while it starts. So the next batch
// waits no longer than this for them, and after two minutes no batch waits.
constexpr absl::Duration kMaxCompilerWait = absl::Seconds(10);
constexpr absl::Duration kMaxPaceTime = absl::Minutes(2);
// The longest pause after the compilers' work, which lets the program run at full speed for a time.
constexpr absl::Duration kMaxRest = absl::Seconds(2);

// The system's clock may be set back while batches wait.
absl::Duration Monotonic() { return absl::Nanoseconds(MonotonicNanos()); }

// The processor time that the next batch may take. A small remainder joins the batch before it.
absl::Duration BatchLimit(absl::Duration batch_cost, const BatchProgress& progress) {
  const absl::Duration left = calls::BoundedCost(progress.Left(), progress.done, progress.cost);
  return left < batch_cost * 1.5 ? absl::InfiniteDuration() : batch_cost;
}

}  // namespace

calls::ProbeWork BatchProgress::Left() const {
  return {all.classes - done.classes, all.methods - done.methods};
}

absl::Duration BatchProgress::CostLeft() const {
  return calls::ExtrapolatedCost(Left(), done, cost);
}

std::string DescribeProgress(const BatchProgress& progress, absl::string_view where) {
  return absl::StrCat("probes are ", where, " ", WithThousands(progress.done.classes), " of ",
                      WithNoun(progress.all.classes, "class", "classes"), ", about ",
                      calls::RoughSeconds(progress.CostLeft()), " of processor time left");
}

void ClassBatches::Plan(JNIEnv* jni, const std::vector<Planned>& classes, bool at_once) {
  Drop(jni);
  progress_ = {};
  is_at_once_ = at_once;
  sizer_ = has_budget_ && !at_once ? BatchSizer(classes.size()) : BatchSizer::Unlimited();
  pace_ends_ = Monotonic() + kMaxPaceTime;
  compiler_work_.reset();
  vm_thread_ = FindThread("VM Thread");
  for (const Planned& planned : classes) {
    jweak const weak = jni->NewWeakGlobalRef(planned.klass);
    if (weak == nullptr) {  // no memory
      jni->ExceptionClear();
      continue;
    }
    classes_.push_back({weak, planned.methods});
    ++progress_.all.classes;
    progress_.all.methods += planned.methods;
  }
}

void ClassBatches::Drop(JNIEnv* jni) {
  for (; next_ < classes_.size(); ++next_) jni->DeleteWeakGlobalRef(classes_[next_].klass);
  classes_.clear();
  next_ = 0;
}

absl::Duration ClassBatches::Pause() {
  const absl::Duration rest = UntilCompilersRest();
  return std::clamp(next_batch_ - Monotonic(), rest, kMaxBatchPause);
}

absl::Duration ClassBatches::UntilCompilersRest() {
  if (!compiler_work_.has_value()) return absl::ZeroDuration();
  const absl::Duration now = Monotonic();
  if (now < compiler_work_->checked + kCheckPeriod)
    return compiler_work_->checked + kCheckPeriod - now;
  compiler_work_->checked = now;
  compiler_work_->quiet = compilers_.AreBusy() ? 0 : compiler_work_->quiet + 1;
  if (compiler_work_->quiet < kQuietChecks && now < compiler_work_->latest) return kCheckPeriod;
  const absl::Duration work = compilers_.CpuTime() - compiler_work_->used;
  sizer_.After(compiler_work_->classes, work);
  const absl::Duration rest = budget_.PauseAfter(absl::ZeroDuration(), work);
  next_batch_ = std::max(next_batch_, now + std::min(rest, kMaxRest));
  compiler_work_.reset();
  return absl::ZeroDuration();
}

std::vector<jclass> ClassBatches::TakeNext(JNIEnv* jni, const std::function<bool(jclass)>& wanted) {
  std::vector<jclass> taken;
  const BatchProgress before = progress_;
  absl::Duration expected;
  const absl::Duration most =
      is_at_once_ ? absl::InfiniteDuration() : BatchLimit(batch_cost_, before);
  const size_t most_classes = std::min(kMaxBatchClasses, sizer_.classes());
  while (next_ < classes_.size() && taken.size() < most_classes && expected < most) {
    const Waiting& waiting = classes_[next_++];
    ++progress_.done.classes;
    progress_.done.methods += waiting.methods;
    auto* const klass = static_cast<jclass>(jni->NewLocalRef(waiting.klass));
    jni->DeleteWeakGlobalRef(waiting.klass);
    if (klass == nullptr || !wanted(klass)) continue;
    taken.push_back(klass);
    expected += calls::BoundedCost({1, waiting.methods}, before.done, before.cost);
  }
  return taken;
}

absl::Duration ClassBatches::Cost() const {
  const auto own = ThreadCpu(gettid());
  const auto vm = vm_thread_ != 0 ? ThreadCpu(vm_thread_) : std::nullopt;
  return own.value_or(absl::ZeroDuration()) + vm.value_or(absl::ZeroDuration());
}

void ClassBatches::RunNext(
    JNIEnv* jni, const std::function<bool(jclass)>& wanted,
    const std::function<void(const std::vector<jclass>&)>& begin,
    const std::function<void(const std::vector<jclass>&, const jvm::RetransformResult&)>& end) {
  const jvm::LocalFrame frame(jni);
  const absl::Duration began = Monotonic();
  const absl::Duration before = Cost();
  compilers_.Refresh();
  const absl::Duration compiled = compilers_.CpuTime();
  const std::vector<jclass> classes = TakeNext(jni, wanted);
  begin(classes);
  end(classes, jvm::RetransformBatch(env_, classes));
  const absl::Duration cost = std::max(absl::ZeroDuration(), Cost() - before);
  const absl::Duration now = Monotonic();
  progress_.cost += cost;
  next_batch_ = now + budget_.PauseAfter(now - began, cost);
  if (empty() || !has_budget_) return;
  if (now > pace_ends_) {
    sizer_ = BatchSizer::Unlimited();
  } else {
    compiler_work_ = {.classes = classes.size(),
                      .used = compiled,
                      .latest = now + kMaxCompilerWait,
                      .checked = now};
  }
}

}  // namespace jtrace
