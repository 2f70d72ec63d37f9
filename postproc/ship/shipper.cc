#include "postproc/ship/shipper.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <utility>

#include "absl/time/clock.h"
#include "postproc/ship/durable.h"
#include "postproc/support/memory_limit.h"
#include "postproc/support/output_file.h"
#include "postproc/support/strings.h"

namespace jtrace::ship {
namespace {

using postproc::StrCat;

constexpr absl::Duration kTidyPeriod = absl::Minutes(1);
constexpr absl::Duration kMetricsPeriod = absl::Seconds(10);
constexpr absl::Duration kPublishPeriod = absl::Seconds(1);

// Of the shipper's own folder, below that of the traces.
constexpr std::string_view kOwn = ".jtrace-ship";

}  // namespace

Shipper::Shipper(ShipPolicy policy, std::vector<std::unique_ptr<Target>> targets, StopSignal& stop,
                 Say say)
    : policy_(std::move(policy)),
      stop_(stop),
      say_(std::move(say)),
      ledger_(StrCat(policy_.folder, "/", kOwn, "/delivered")) {
  std::random_device seed;
  for (std::unique_ptr<Target>& target : targets) {
    TargetCounts& counts = metrics_.targets[target->name()];
    destinations_.push_back(
        {.target = std::move(target), .backoff = Backoff(seed()), .counts = counts});
  }
}

Shipper::~Shipper() {
  if (lock_ >= 0) close(lock_);
}

std::string Shipper::Folder(std::string_view name) const {
  return StrCat(policy_.folder, "/", name);
}

// A lock that the system lets go when this process is killed.
absl::Status Shipper::TakeFolder() {
  if (absl::Status status = MakeFolder(Folder(kOwn)); !status.ok()) return status;
  const std::string file = StrCat(Folder(kOwn), "/lock");
  lock_ = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (lock_ < 0) {
    return absl::UnavailableError(StrCat("cannot write ", file, ": ", strerror(errno)));
  }
  if (flock(lock_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return absl::OkStatus();
  return absl::FailedPreconditionError(StrCat("another jtrace ship runs for ", policy_.folder,
                                              ": end it first, or name another folder"));
}

absl::Status Shipper::Open() {
  if (absl::Status status = TakeFolder(); !status.ok()) return status;
  for (Destination& to : destinations_) {
    if (absl::Status status = to.target->Open(); !status.ok()) return status;
  }
  const auto found = FindTraces(policy_.folder, absl::Now(), absl::ZeroDuration());
  if (!found.ok()) return found.status();
  ledger_.ForgetAllBut(found->sealed);
  return absl::OkStatus();
}

FolderContents Shipper::Look() {
  const absl::Time now = absl::Now();
  absl::StatusOr<FolderContents> found = FindTraces(policy_.folder, now, policy_.settled);
  if (!found.ok()) {
    say_(std::string(found.status().message()));
    return {};
  }
  if (!found->unreadable.empty() && found->unreadable.front() != said_unreadable_) {
    said_unreadable_ = found->unreadable.front();
    say_(StrCat("cannot read ", said_unreadable_, ": run jtrace ship as its user, or as root"));
  }
  metrics_.recording = found->recording;
  looking_ = absl::Now() - now;
  return *std::move(found);
}

void Shipper::Drop(std::vector<SealedTrace>& waiting) {
  const size_t count = CountToDrop(waiting, policy_.most_waiting_bytes);
  if (count == 0) return;
  uint64_t bytes = 0;
  for (size_t i = 0; i < count; ++i) {
    if (!RemoveFile(waiting[i].path)) continue;
    ledger_.Forget(waiting[i]);
    bytes += waiting[i].size;
    ++metrics_.dropped;
  }
  metrics_.dropped_bytes += bytes;
  waiting.erase(waiting.begin(), waiting.begin() + static_cast<ptrdiff_t>(count));
  say_(StrCat("dropped the ", count, " oldest traces (", postproc::ByteSizeText(bytes),
              "), which were not shipped: more than --spool=",
              postproc::ByteSizeText(policy_.most_waiting_bytes), " waits"));
}

bool Shipper::Leave(const SealedTrace& trace, const std::string& folder) {
  absl::Status status = MakeFolder(folder);
  if (status.ok()) status = MoveDurably(trace.path, StrCat(folder, "/", trace.name));
  if (!status.ok()) {
    say_(std::string(status.message()));
    return false;
  }
  ledger_.Forget(trace);
  return true;
}

bool Shipper::SetAside(const SealedTrace& trace, const Destination& by, const std::string& reason) {
  const std::string folder = Folder("failed");
  const std::string line = StrCat(by.target->name(), ": ", reason);
  if (!Leave(trace, folder)) return false;
  ++metrics_.failed;
  const absl::Status noted =
      WriteDurably(StrCat(folder, "/", trace.name, ".reason"), StrCat(line, "\n"));
  say_(StrCat("set aside ", folder, "/", trace.name, ": ", line));
  if (!noted.ok()) say_(std::string(noted.message()));
  return true;
}

Delivery::Outcome Shipper::Delivered(const SealedTrace& trace, const Delivery& delivery,
                                     Destination& to) {
  const absl::Status noted = ledger_.NoteDelivered(trace, to.target->key());
  if (!noted.ok()) {  // it would be delivered again and again
    Failed({.message = std::string(noted.message())}, to);
    return Delivery::Outcome::kLater;
  }
  if (to.said) say_(StrCat(to.target->name(), " works again"));
  to.said = false;
  to.backoff.Succeeded();
  ++to.counts.delivered;
  to.counts.bytes += delivery.bytes;
  to.counts.last = absl::Now();
  to.counts.works = true;
  return Delivery::Outcome::kDelivered;
}

void Shipper::Failed(const Delivery& delivery, Destination& to) {
  to.backoff.Failed(absl::Now(), delivery.wait);
  ++to.counts.retries;
  to.counts.works = false;
  if (std::exchange(to.said, true)) return;
  say_(StrCat(to.target->name(), ": ", delivery.message, "; it is tried again until it works"));
}

// kRefused: the trace has left the folder.
Delivery::Outcome Shipper::Deliver(const SealedTrace& trace, Destination& to) {
  const Delivery delivery = to.target->Deliver(trace, stop_);
  switch (delivery.outcome) {
    case Delivery::Outcome::kDelivered:
      return Delivered(trace, delivery, to);
    case Delivery::Outcome::kRefused:
      if (SetAside(trace, to, delivery.message)) {
        ++to.counts.refused;
        return Delivery::Outcome::kRefused;
      }
      [[fallthrough]];
    case Delivery::Outcome::kLater:
      Failed(delivery, to);
      return Delivery::Outcome::kLater;
    case Delivery::Outcome::kStopped:
      break;
  }
  return Delivery::Outcome::kStopped;
}

bool Shipper::IsReady(const Destination& to, absl::Time now) const {
  return tries_once_ ? to.backoff.failures() == 0 : to.backoff.IsReady(now);
}

bool Shipper::Ship(const SealedTrace& trace) {
  std::vector<Destination*> missing;
  bool any_ready = false;
  for (Destination& to : destinations_) {
    if (ledger_.IsDelivered(trace, to.target->key())) continue;
    missing.push_back(&to);
    any_ready = any_ready || IsReady(to, absl::Now());
  }
  if (!missing.empty() && !any_ready) return false;
  const std::unique_ptr<TraceLock> lock = TraceLock::Take(trace);
  if (lock == nullptr) return false;
  bool is_complete = true;
  for (Destination* const to : missing) {
    const auto outcome = !stop_.requested() && IsReady(*to, absl::Now())
                             ? Deliver(trace, *to)
                             : Delivery::Outcome::kLater;
    if (outcome == Delivery::Outcome::kRefused) return true;
    is_complete = is_complete && outcome == Delivery::Outcome::kDelivered;
  }
  if (!is_complete) return false;
  if (!policy_.shipped.keeps_none()) {
    if (!Leave(trace, Folder("shipped"))) return false;
  } else if (RemoveFile(trace.path)) {
    ledger_.Forget(trace);
  } else {
    return false;
  }
  ++metrics_.shipped;
  return true;
}

void Shipper::Step() {
  std::vector<SealedTrace> waiting = Look().sealed;
  Drop(waiting);
  const absl::Time now = absl::Now();
  size_t left = 0;
  uint64_t left_bytes = 0;
  absl::Time oldest = now;
  for (const SealedTrace& trace : waiting) {
    if (!stop_.requested() && Ship(trace)) {
      WriteMetrics(absl::Now());
      continue;
    }
    ++left;
    left_bytes += trace.size;
    oldest = std::min(oldest, absl::FromUnixNanos(trace.modified_ns));
  }
  metrics_.waiting = left;
  metrics_.waiting_bytes = left_bytes;
  metrics_.oldest_seconds = absl::ToDoubleSeconds(now - oldest);
  Tidy(absl::Now());
}

void Shipper::Tidy(absl::Time now) {
  if (now - tidied_ < kTidyPeriod) return;
  tidied_ = now;
  RemoveOldFiles(Folder("shipped"), policy_.shipped, now);
  RemoveOldFiles(Folder("failed"),
                 {.longest = absl::InfiniteDuration(), .most_bytes = policy_.most_waiting_bytes},
                 now);
}

void Shipper::WriteMetrics(absl::Time now) {
  if (policy_.publish != nullptr && now - published_ >= kPublishPeriod) {
    published_ = now;
    policy_.publish(MetricsText(metrics_, CostOfThisProcess()));
  }
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
    WriteMetrics(absl::Now());
    stop_.Wait(std::max(policy_.interval, std::min(looking_ * kRest, kLongestRest)));
  }
  metrics_written_ = absl::InfinitePast();
  WriteMetrics(absl::Now());
}

bool Shipper::RunOnce() {
  // A copy that has just arrived is given the time to settle.
  stop_.Wait(policy_.settled);
  tries_once_ = true;
  Step();
  metrics_written_ = absl::InfinitePast();
  WriteMetrics(absl::Now());
  return metrics_.waiting == 0;
}

}  // namespace jtrace::ship
