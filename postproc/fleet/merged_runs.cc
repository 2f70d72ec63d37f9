#include "postproc/fleet/merged_runs.h"

#include <fstream>
#include <string>

#include "postproc/support/output_file.h"

namespace jtrace::postproc::fleet {
absl::Status WriteMergedRuns(const std::filesystem::path& folder,
                             const std::vector<int64_t>& runs) {
  absl::StatusOr<OutputFile> out = OutputFile::Open((folder / kRunsNote).string());
  if (!out.ok()) return out.status();
  for (const int64_t run : runs) out->stream() << run << '\n';
  return out->Commit();
}

absl::flat_hash_set<int64_t> ReadMergedRuns(const std::filesystem::path& folder) {
  absl::flat_hash_set<int64_t> runs;
  std::ifstream in(folder / kRunsNote);
  for (int64_t run = 0; in >> run;) runs.insert(run);
  return runs;
}

}  // namespace jtrace::postproc::fleet
