// The batches of classes in which a start puts its probes in, and a stop takes them out. The lock
// is free between two of them.
#include <algorithm>
#include <exception>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "agent/session/jvm_session.h"

namespace jtrace {

JvmSession::Step JvmSession::AddBatch(JNIEnv* jni, int number) {
  absl::MutexLock lock(&lifecycle_);
  if (jvm_ends_ || number != number_ || Running() == nullptr) return {.is_over = true};
  if (!recording_->IsAdding()) return {.is_over = true};
  ClassBatches& batches = recording_->classes()->batches();
  if (batches.Pause() <= absl::ZeroDuration()) recording_->AddBatch(jni);
  if (!recording_->IsAdding()) return {.progress = batches.progress()};
  return {.pause = batches.Pause(), .progress = batches.progress()};
}

JvmSession::Step JvmSession::RemoveBatch(JNIEnv* jni, int number) {
  absl::MutexLock lock(&lifecycle_);
  if (jvm_ends_ || number != number_ || recording_ == nullptr) return {.is_over = true};
  if (recording_->classes() == nullptr) return {.is_over = true};
  ClassBatches& batches = recording_->classes()->batches();
  if (batches.Pause() <= absl::ZeroDuration() && !recording_->RemoveBatch(jni)) {
    return {.is_over = true};
  }
  return {.pause = batches.Pause(), .progress = batches.progress()};
}

absl::Status JvmSession::AddProbes(JNIEnv* jni, int number, const Caller& caller) {
  BatchProgress progress;
  for (Step step = AddBatch(jni, number); !step.is_over; step = AddBatch(jni, number)) {
    progress = step.progress;
    caller.progress(progress, DescribeProgress(progress, "in"));
    caller.pause(step.pause, Caller::kAnyRequest);
  }
  WakeControl();  // which ends the compilers' priority
  absl::MutexLock lock(&lifecycle_);
  if (number == number_ && Running() != nullptr) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat(
      "the recording ended while its probes were being put in: ", progress.done.classes, " of ",
      progress.all.classes, " classes had them"));
}

absl::StatusOr<std::string> JvmSession::FinishStart(JNIEnv* jni, int number, const Caller& caller) {
  if (absl::Status status = AddProbes(jni, number, caller); !status.ok()) return status;
  absl::MutexLock lock(&lifecycle_);
  if (number != number_ || Running() == nullptr) {
    return absl::AbortedError("the recording has ended already");
  }
  return absl::StrCat("recording to ", trace::AbsolutePath(recording_->path()), " (",
                      DescribeOptions(recording_->options()), ")",
                      recording_->commands().DescribeWarnings());
}

bool JvmSession::PauseRemoval(int number) {
  absl::MutexLock lock(&lifecycle_);
  if (jvm_ends_ || number != number_ || recording_ == nullptr) return false;
  removal_ = Removal::kPaused;
  WakeControl();
  return true;
}

std::string JvmSession::RemoveProbes(JNIEnv* jni, int number, const Caller& caller) {
  const absl::Time end = absl::Now() + caller.patience;
  for (Step step = RemoveBatch(jni, number); !step.is_over; step = RemoveBatch(jni, number)) {
    const std::string progress = DescribeProgress(step.progress, "out of");
    caller.progress(step.progress, progress);
    const absl::Duration left = end - absl::Now();
    if (left <= absl::ZeroDuration() && PauseRemoval(number)) {
      return absl::StrCat("\n", progress, "; the rest follow while the program runs");
    }
    // Not so: Retire does the rest at once.
    if (!caller.pause(std::min(step.pause, left), Caller::kQuestions)) break;
  }
  WakeControl();
  absl::MutexLock lock(&lifecycle_);
  if (jvm_ends_ || number != number_ || recording_ == nullptr) return "";
  return Retire(jni);
}

absl::StatusOr<std::string> JvmSession::Stop(JNIEnv* jni, const Caller& caller) {
  absl::StatusOr<std::string> written;
  int number = 0;
  {
    absl::MutexLock lock(&lifecycle_);
    if (removal_ != Removal::kNone) {
      return absl::FailedPreconditionError(
          "the recording has ended already; its probes are being taken out");
    }
    if (recording_ != nullptr && Running() == nullptr && !is_prepared_) {
      if (absl::Status status = WaitForFailure(); !status.ok()) return status;
      const std::string file = recording_->path();
      Retire(jni);
      return absl::AbortedError(absl::StrCat("the recording had failed: ", last_failure_, "; ",
                                             file,
                                             " has the records before that, no probe is left"));
    }
    if (Running() == nullptr) {
      return absl::FailedPreconditionError(absl::StrCat(
          "no recording runs",
          last_failure_.empty() ? "" : absl::StrCat("; the last one failed: ", last_failure_),
          unheard_left_ ? absl::StrCat("; the probes of the last one are out", *unheard_left_)
                        : ""));
    }
    removal_ = Removal::kUnderWay;
    number = number_;
    try {
      written = recording_->Stop(jni);
    } catch (const std::exception& failure) {  // no memory: the probes go in any case
      written = absl::ResourceExhaustedError(failure.what());
    }
  }
  const std::string left = RemoveProbes(jni, number, caller);
  if (!written.ok()) return written;
  return absl::StrCat(*written, left);
}

void JvmSession::CleanUp(JNIEnv* jni, const Caller& caller) {
  int number = 0;
  {
    absl::MutexLock lock(&lifecycle_);
    if (!NeedsCleanUp()) return;
    if (removal_ == Removal::kNone) recording_->PlanRemoving(jni);
    removal_ = Removal::kUnderWay;
    number = number_;
  }
  const std::string left = RemoveProbes(jni, number, caller);
  absl::MutexLock lock(&lifecycle_);
  if (recording_ == nullptr && number == number_) unheard_left_ = left;
}

}  // namespace jtrace
