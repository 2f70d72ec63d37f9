#include "postproc/model/import_stats.h"

namespace jtrace::postproc {
namespace {

constexpr std::array<ProblemInfo, static_cast<size_t>(Problem::kCount)> kProblems = {{
    {Severity::kWarning, "lines with an unknown op, skipped",
     "the trace may come from a newer writer"},
    {Severity::kError, "malformed lines, skipped", "see the line numbers above"},
    {Severity::kWarning, "records earlier than the one before them, treated as simultaneous", ""},
    {Severity::kInfo, "exits without an open activation",
     "normal where recording began in the middle of a call"},
    {Severity::kError, "places where frames were damaged, skipped",
     "results are incomplete; was the disk full or the file copied while it was written?"},
    {Severity::kError, "frames whose content cannot be read, skipped", "results are incomplete"},
    {Severity::kError, "frames whose content would take more than 1 GiB of memory, skipped",
     "no jtrace writes such frames: is the file what it claims to be?"},
    {Severity::kError, "event logs that cannot be read to their end",
     "calls are missing: results are incomplete"},
    {Severity::kError, "positions in event logs too far from those before them, skipped",
     "no jtrace writes such logs: is the file what it claims to be?"},
    {Severity::kError, "chunks missing", "results are incomplete"},
    {Severity::kError, "chunks out of sequence, skipped", "are two traces in one file?"},
    {Severity::kWarning, "bytes at the end belong to no whole frame",
     "about a second is lost if the program was killed, all later records if the file was cut"},
    {Severity::kWarning, "bytes after the trace's last record, ignored",
     "was something appended to the file?"},
    {Severity::kWarning, "events with an unknown code, skipped",
     "the trace may come from a newer agent"},
    {Severity::kError, "references to something never defined",
     "the chunk with the definition was lost; see [lost] in the tree"},
    {Severity::kError, "calls differ between the trees and the agent's control sum",
     "call counts are incomplete"},
    {Severity::kWarning, "class files of --classes cannot be read, left out",
     "their methods are missing in coverage"},
}};

}  // namespace

const ProblemInfo& InfoOf(Problem problem) { return kProblems[static_cast<size_t>(problem)]; }

void ImportStats::Add(Problem problem, std::string_view detail, int64_t count) {
  counts_[static_cast<size_t>(problem)] += count;
  if (!detail.empty() && WantsDetail()) details_.emplace_back(detail);
}

std::vector<Problem> ImportStats::Occurred() const {
  std::vector<Problem> occurred;
  for (size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] != 0) occurred.push_back(static_cast<Problem>(i));
  }
  return occurred;
}

}  // namespace jtrace::postproc
