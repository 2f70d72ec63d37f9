#include "postproc/ship/shipper.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/time/clock.h"
#include "common/counted.h"
#include "postproc/ship/own_folder.h"
#include "postproc/ship/steady_clock.h"
#include "postproc/support/file_lock.h"
#include "postproc/support/memory_limit.h"
#include "postproc/support/output_file.h"
#include "postproc/support/random_bytes.h"
#include "postproc/support/strings.h"

namespace jtrace::ship {
namespace {

using postproc::StrCat;

constexpr absl::Duration kLockPatience = absl::Seconds(2);
constexpr absl::Duration kTidyPeriod = absl::Minutes(1);
constexpr absl::Duration kMetricsPeriod = absl::Seconds(10);

uint32_t NewSeed() {
  uint32_t seed = 0;
  memcpy(&seed, postproc::RandomBytes(sizeof(seed)).data(), sizeof(seed));
  return seed;
}

}  // namespace

Shipper::Shipper(ShipPolicy policy, std::vector<std::unique_ptr<Target>> targets, StopSignal& stop,
                 Say say)
    : policy_(std::move(policy)),
      stop_(stop),
      say_(std::move(say)),
      ledger_(policy_.folder),
      mover_(policy_.folder, NewSeed(), say_) {
  for (std::unique_ptr<Target>& target : targets) {
    TargetCounts& counts = metrics_.targets[target->name()];
    destinations_.push_back(
        {.target = std::move(target), .backoff = Backoff(NewSeed()), .counts = counts});
  }
}

Shipper::~Shipper() {
  if (lock_ >= 0) close(lock_);
}

// A lock that the system lets go when this process is killed.
absl::Status Shipper::TakeFolder() {
  const absl::StatusOr<OwnFolder> folder = OwnFolder::Make(policy_.folder, kOwnFolder);
  if (!folder.ok()) return folder.status();
  lock_ = openat(folder->fd(), "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (lock_ < 0) {
    return absl::UnavailableError(
        StrCat("cannot write ", folder->path(), "/lock: ", strerror(errno)));
  }
  // One that was killed a moment ago may have left a child, not yet a program, that has its lock.
  const absl::Time last = SteadyNow() + kLockPatience;
  do {
    if (postproc::TakeLock(lock_, LOCK_EX)) return absl::OkStatus();
    stop_.Wait(kLockPatience / 100);
  } while (SteadyNow() < last && !stop_.requested());
  return absl::FailedPreconditionError(StrCat("another jtrace ship runs for ", policy_.folder,
                                              ": end it first, or name another folder"));
}

absl::Status Shipper::Open() {
  if (absl::Status status = TakeFolder(); !status.ok()) return status;
  if (absl::Status status = mover_.Check(); !status.ok()) return status;
  for (Destination& to : destinations_) {
    if (absl::Status status = to.target->Open(); !status.ok()) return status;
  }
  const auto found = FindTraces(policy_.folder, absl::Now(), absl::ZeroDuration());
  if (!found.ok()) return found.status();
  ledger_.ForgetAllBut(found->sealed);
  return absl::OkStatus();
}

FolderContents Shipper::Look() {
  const absl::Time began = SteadyNow();
  absl::StatusOr<FolderContents> found = FindTraces(policy_.folder, absl::Now(), policy_.settled);
  const bool was_said = std::exchange(cannot_look_, !found.ok());
  if (!found.ok()) {
    if (!was_said) say_(std::string(found.status().message()));
    return {};
  }
  if (!found->unreadable.empty() && found->unreadable.front() != said_unreadable_) {
    said_unreadable_ = found->unreadable.front();
    say_(StrCat("cannot read ", said_unreadable_, ": run jtrace ship as its user, or as root"));
  }
  metrics_.recording = found->recording;
  metrics_.unreadable = found->unreadable.size();
  looking_ = SteadyNow() - began;
  return *std::move(found);
}

bool Shipper::Delivered(const SealedTrace& trace, const Delivery& delivery, Destination& to) {
  const absl::Status noted = ledger_.NoteDelivered(trace, to.target->key());
  // It would be delivered again and again.
  if (!noted.ok()) return Failed(trace, {.message = std::string(noted.message())}, to);
  if (to.said) say_(StrCat(to.target->name(), " works again"));
  to.said = false;
  to.backoff.Succeeded();
  tries_.Forget(trace, to.target->key());
  ++to.counts.delivered;
  to.counts.bytes += delivery.bytes;
  to.counts.last = absl::Now();
  to.counts.works = true;
  return true;
}

// By that target alone: the others may take it.
bool Shipper::Refused(const SealedTrace& trace, const std::string& reason, Destination& to) {
  const absl::Status noted = ledger_.NoteRefused(trace, to.target->key(), reason);
  if (!noted.ok()) return Failed(trace, {.message = std::string(noted.message())}, to);
  tries_.Forget(trace, to.target->key());
  ++to.counts.refused;
  return true;
}

bool Shipper::Failed(const SealedTrace& trace, const Delivery& delivery, Destination& to) {
  constexpr int kMostBroken = 3;
  to.backoff.Failed(SteadyNow(), delivery.wait);
  ++to.counts.retries;
  to.counts.works = false;
  const int broken = tries_.Failed(trace, to.target->key(), delivery.is_broken, to.backoff.next());
  if (delivery.is_broken && broken >= kMostBroken) return Refused(trace, delivery.message, to);
  if (std::exchange(to.said, true)) return false;
  say_(StrCat(to.target->name(), ": ", delivery.message, "; it is tried again until it works"));
  return false;
}

bool Shipper::Deliver(const SealedTrace& trace, Destination& to) {
  const Delivery delivery = to.target->Deliver(trace, stop_);
  switch (delivery.outcome) {
    case Delivery::Outcome::kDelivered:
      return Delivered(trace, delivery, to);
    case Delivery::Outcome::kRefused:
      return Refused(trace, delivery.message, to);
    case Delivery::Outcome::kLater:
      return Failed(trace, delivery, to);
    case Delivery::Outcome::kStopped:
      break;
  }
  return false;
}

bool Shipper::IsReady(const Destination& to, const SealedTrace& trace) const {
  const absl::Time now = SteadyNow();
  if (tries_once_) return to.backoff.failures() < Tries::kMost;
  return to.backoff.IsReady(now) && !tries_.IsResting(trace, to.target->key(), now);
}

bool Shipper::SetAside(const SealedTrace& trace, const std::string& reasons) {
  const std::optional<std::string> name = mover_.Move(trace, "failed");
  if (!name.has_value()) return false;
  mover_.Explain(*name, "failed", reasons);
  ledger_.Forget(trace);
  ++metrics_.failed;
  say_(StrCat("set aside ", policy_.folder, "/failed/", *name, ": ",
              reasons.substr(0, reasons.find('\n'))));
  return true;
}

bool Shipper::Discard(const SealedTrace& trace) {
  if (!mover_.Remove(trace)) return false;
  ledger_.Forget(trace);
  for (const Destination& to : destinations_) tries_.Forget(trace, to.target->key());
  return true;
}

// All targets have answered.
bool Shipper::Leave(const SealedTrace& trace) {
  std::string reasons;
  for (const Destination& to : destinations_) {
    const std::string reason = ledger_.Answer(trace, to.target->key()).value_or("");
    if (!reason.empty()) reasons += StrCat(to.target->name(), ": ", reason, "\n");
  }
  if (!reasons.empty()) return SetAside(trace, reasons);
  if (policy_.shipped.keeps_none()) {
    if (!Discard(trace)) return false;
  } else {
    if (!mover_.Move(trace, "shipped").has_value()) return false;
    ledger_.Forget(trace);
  }
  ++metrics_.shipped;
  return true;
}

bool Shipper::Ship(const SealedTrace& trace) {
  std::vector<Destination*> missing;
  bool any_ready = false;
  for (Destination& to : destinations_) {
    if (ledger_.Answer(trace, to.target->key()).has_value()) continue;
    missing.push_back(&to);
    any_ready = any_ready || IsReady(to, trace);
  }
  if (missing.empty() ? !mover_.IsReady() : !any_ready) return false;
  const std::unique_ptr<TraceLock> lock = TraceLock::Take(trace);
  if (lock == nullptr) return false;
  bool is_complete = true;
  for (Destination* const to : missing) {
    const bool has_answered = !stop_.requested() && IsReady(*to, trace) && Deliver(trace, *to);
    is_complete = is_complete && has_answered;
  }
  return is_complete && Leave(trace);
}

// Only what a target failed for: everything else leaves as soon as its turn comes.
void Shipper::Drop(std::vector<SealedTrace>& left) {
  std::vector<SealedTrace> failing;
  std::copy_if(left.begin(), left.end(), std::back_inserter(failing), [&](const auto& trace) {
    return std::any_of(destinations_.begin(), destinations_.end(), [&](const Destination& to) {
      const std::string& key = to.target->key();
      return (to.backoff.failures() > 0 || tries_.HasFailed(trace, key)) &&
             !ledger_.Answer(trace, key).has_value();
    });
  });
  failing.resize(CountToDrop(failing, policy_.most_waiting_bytes));
  uint64_t bytes = 0;
  size_t count = 0;
  for (const SealedTrace& trace : failing) {
    const std::unique_ptr<TraceLock> lock = TraceLock::Take(trace);
    if (lock == nullptr || !Discard(trace)) continue;
    bytes += trace.size;
    ++count;
    std::erase_if(left, [&](const SealedTrace& each) { return each.name == trace.name; });
  }
  if (count == 0) return;
  metrics_.dropped += count;
  metrics_.dropped_bytes += bytes;
  say_(StrCat("dropped the ", WithNoun(count, "oldest trace"), " (", postproc::ByteSizeText(bytes),
              "), which were not shipped: more than --spool=",
              postproc::ByteSizeText(policy_.most_waiting_bytes), " waits"));
}

void Shipper::Step() {
  std::vector<SealedTrace> left;
  const std::vector<SealedTrace> waiting = Look().sealed;
  for (const SealedTrace& trace : waiting) {
    if (!stop_.requested() && Ship(trace)) {
      WriteMetrics(SteadyNow());
    } else {
      left.push_back(trace);
    }
  }
  if (!stop_.requested()) Drop(left);
  const absl::Time now = absl::Now();
  absl::Time oldest = now;
  metrics_.waiting = left.size();
  metrics_.waiting_bytes = 0;
  for (const SealedTrace& trace : left) {
    metrics_.waiting_bytes += trace.size;
    oldest = std::min(oldest, absl::FromUnixNanos(trace.modified_ns));
  }
  metrics_.oldest_seconds = absl::ToDoubleSeconds(now - oldest);
  Tidy(SteadyNow(), left);
}

void Shipper::Tidy(absl::Time now, const std::vector<SealedTrace>& left) {
  if (now - tidied_ < kTidyPeriod) return;
  tidied_ = now;
  // Others may have removed traces.
  if (!cannot_look_) {
    ledger_.ForgetAllBut(left);
    tries_.ForgetAllBut(left);
  }
  if (const auto shipped = OwnFolder::Find(policy_.folder, "shipped"); shipped.ok()) {
    RemoveOldTraces(*shipped, policy_.shipped, absl::Now());
  }
  const auto failed = OwnFolder::Find(policy_.folder, "failed");
  if (!failed.ok()) return;
  const size_t removed = RemoveOldTraces(
      *failed, {.longest = absl::InfiniteDuration(), .most_bytes = policy_.most_waiting_bytes},
      absl::Now());
  if (removed == 0) return;
  say_(StrCat("removed the ", WithNoun(removed, "oldest trace"), " of ", failed->path(),
              ": it had more than --spool=", postproc::ByteSizeText(policy_.most_waiting_bytes)));
}

void Shipper::WriteMetrics(absl::Time now) {
  if (policy_.metrics_file.empty() || now - metrics_written_ < kMetricsPeriod) return;
  metrics_written_ = now;
  auto file = postproc::OutputFile::Open(policy_.metrics_file);
  absl::Status status = file.status();
  if (file.ok()) {
    file->stream() << MetricsText(metrics_, CostOfThisProcess());
    status = file->Commit();
  }
  if (!status.ok()) say_(std::string(status.message()));
}

void Shipper::Run() {
  constexpr int kRest = 200;  // times as long as looking took: half a percent of a processor
  constexpr absl::Duration kLongestRest = absl::Minutes(1);
  while (!stop_.requested()) {
    Step();
    WriteMetrics(SteadyNow());
    stop_.Wait(std::max(policy_.interval, std::min(looking_ * kRest, kLongestRest)));
  }
  metrics_written_ = absl::InfinitePast();
  WriteMetrics(SteadyNow());
}

bool Shipper::RunOnce() {
  // A copy that has just arrived is given the time to settle.
  stop_.Wait(policy_.settled);
  tries_once_ = true;
  Step();
  metrics_written_ = absl::InfinitePast();
  WriteMetrics(SteadyNow());
  return !cannot_look_ && metrics_.waiting == 0 && metrics_.dropped == 0 &&
         metrics_.unreadable == 0;
}

}  // namespace jtrace::ship
