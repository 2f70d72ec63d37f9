#include "postproc/ship/trace_mover.h"

#include "postproc/ship/durable.h"
#include "postproc/ship/own_folder.h"
#include "postproc/ship/steady_clock.h"
#include "postproc/support/strings.h"

namespace jtrace::ship {

using postproc::StrCat;

absl::Status TraceMover::Check() const {
  for (const std::string_view below : {"shipped", "failed"}) {
    absl::Status status = OwnFolder::Find(folder_, below).status();
    if (!status.ok() && !absl::IsNotFound(status)) return status;
  }
  return absl::OkStatus();
}

bool TraceMover::IsReady() const { return backoff_.IsReady(SteadyNow()); }

void TraceMover::Failed(const absl::Status& status) {
  if (backoff_.failures() == 0) say_(std::string(status.message()));
  backoff_.Failed(SteadyNow(), absl::ZeroDuration());
}

std::optional<std::string> TraceMover::Move(const SealedTrace& trace, std::string_view below) {
  const absl::StatusOr<OwnFolder> folder = OwnFolder::Make(folder_, below);
  if (!folder.ok()) {
    Failed(folder.status());
    return std::nullopt;
  }
  if (!IsStillThere(trace)) return std::nullopt;
  absl::StatusOr<std::string> name = MoveDurably(trace.path, *folder, trace.name);
  if (!name.ok()) {
    Failed(name.status());
    return std::nullopt;
  }
  backoff_.Succeeded();
  return *std::move(name);
}

void TraceMover::Explain(const std::string& name, std::string_view below,
                         const std::string& reason) {
  const absl::StatusOr<OwnFolder> folder = OwnFolder::Make(folder_, below);
  absl::Status status = folder.status();
  if (folder.ok()) status = WriteDurably(*folder, StrCat(NoteName(name), ".reason"), reason);
  if (!status.ok()) say_(std::string(status.message()));
}

bool TraceMover::Remove(const SealedTrace& trace) {
  if (!IsStillThere(trace)) return false;
  if (RemoveFile(trace.path)) return true;
  Failed(absl::UnavailableError(StrCat("cannot remove ", trace.path)));
  return false;
}

}  // namespace jtrace::ship
