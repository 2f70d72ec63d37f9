// Which trace was delivered to which target: a small file for each pair, so that a shipper that was
// killed goes on where it was.
#pragma once

#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "postproc/ship/sealed_traces.h"

namespace jtrace::ship {

class Ledger {
 public:
  // `folder`: made when something is noted.
  explicit Ledger(std::string folder) : folder_(std::move(folder)) {}

  // False too if it was delivered another trace of that name.
  bool IsDelivered(const SealedTrace& trace, const std::string& target);
  // When this returns, it is on the disk.
  absl::Status NoteDelivered(const SealedTrace& trace, const std::string& target);
  // The trace is no longer in the folder.
  void Forget(const SealedTrace& trace);
  // The same for every trace that is not among these: of a shipper that was killed.
  void ForgetAllBut(const std::vector<SealedTrace>& traces) const;

 private:
  std::string FileOf(const std::string& name, const std::string& target) const;
  std::vector<std::string> Targets() const;

  std::string folder_;
  // What the files say of traces that were asked for: those that wait for long are asked for often.
  absl::flat_hash_set<std::string> delivered_;
  absl::flat_hash_set<std::string> missing_;
};

}  // namespace jtrace::ship
