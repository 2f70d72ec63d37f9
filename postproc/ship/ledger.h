// What each target answered for each trace: a small file for each pair, so that a shipper that was
// killed goes on where it was.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "postproc/ship/own_folder.h"
#include "postproc/ship/sealed_traces.h"

namespace jtrace::ship {

class Ledger {
 public:
  // `folder`: that of the traces. Folders for the notes are made when something is noted.
  explicit Ledger(std::string folder) : folder_(std::move(folder)) {}

  // None: the target has not got it, maybe another trace of that name. "": it was delivered. Else
  // why the target will never take it.
  std::optional<std::string> Answer(const SealedTrace& trace, const std::string& target);
  bool IsDelivered(const SealedTrace& trace, const std::string& target) {
    return Answer(trace, target) == "";
  }
  // When these return, it is on the disk.
  absl::Status NoteDelivered(const SealedTrace& trace, const std::string& target) {
    return Note(trace, target, "");
  }
  absl::Status NoteRefused(const SealedTrace& trace, const std::string& target,
                           const std::string& reason) {
    return Note(trace, target, reason.empty() ? "refused" : reason);
  }
  // The trace is no longer in the folder.
  void Forget(const SealedTrace& trace);
  // The same for every trace that is not among these: of a shipper that was killed, or removed by
  // others.
  void ForgetAllBut(const std::vector<SealedTrace>& traces);
  // How many traces it holds in memory.
  size_t size() const { return answers_.size(); }

 private:
  absl::Status Note(const SealedTrace& trace, const std::string& target, const std::string& answer);
  std::vector<std::string> Targets() const;

  std::string folder_;
  // What the files say of traces that were asked for: those that wait for long are asked for often.
  // By trace, and then by target: a target that never answered has no folder that names it.
  using Answers = absl::flat_hash_map<std::string, std::optional<std::string>>;
  absl::flat_hash_map<std::string, Answers> answers_;
};

}  // namespace jtrace::ship
