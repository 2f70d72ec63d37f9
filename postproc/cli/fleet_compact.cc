#include "postproc/cli/fleet_compact.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/counted.h"
#include "postproc/cli/answer_rows.h"
#include "postproc/cli/fleet_engine.h"
#include "postproc/cli/fleet_folder.h"
#include "postproc/cli/folder_swap.h"
#include "postproc/cli/place_check.h"
#include "postproc/fleet/merged_runs.h"
#include "postproc/fleet/place_lock.h"
#include "postproc/fleet/queries.h"
#include "postproc/fleet/schema.h"
#include "postproc/fleet/stable_ids.h"
#include "postproc/support/file_lock.h"
#include "postproc/support/strings.h"

namespace jtrace::control {
namespace {

namespace fs = std::filesystem;
using postproc::StrCat;
using postproc::duckdb::Answer;
using postproc::duckdb::Session;
using postproc::fleet::PlaceLock;
using postproc::fleet::TableId;

// How long to wait for a conversion that writes into a place.
constexpr absl::Duration kPatience = absl::Seconds(5);

// Rows about one path, arc or class stand together, as in the files of a conversion; parents
// before children.
std::string_view OrderOf(TableId table) {
  switch (table) {
    case postproc::fleet::kRoutines:
      return "class, method, descriptor";
    case postproc::fleet::kPaths:
      return "depth, parent_lo, path_lo";
    case postproc::fleet::kNodes:
    case postproc::fleet::kSamples:
    case postproc::fleet::kMetrics:
      return "path_lo, thread_group, run_id";
    case postproc::fleet::kArcs:
      return "caller_id, callee_id, outermost, run_id";
    case postproc::fleet::kClasses:
      return "class, run_id";
    default:
      return "run_id";
  }
}

// Those of several files are the same rows.
bool IsOfFiles(TableId table) {
  return table == postproc::fleet::kRoutines || table == postproc::fleet::kPaths;
}

std::string Literal(std::string_view text) {
  return postproc::fleet::SqlText(postproc::fleet::Dialect::kDuckDb, text);
}

// One call of the command.
class Compaction {
 public:
  Compaction(const FleetOptions& options, Session& session, std::ostream& out)
      : data_(options.data), filter_(options.filter), session_(session), out_(out) {}

  absl::Status Run();

 private:
  absl::Status FinishKilled();
  std::vector<fs::path> PastPlaces() const;
  absl::Status CompactPlace(const fs::path& place);
  absl::Status CompactTable(TableId table, const fs::path& place);
  absl::Status NoteRuns(const fs::path& spare, const std::string& name);
  absl::Status Merge(TableId table, const fs::path& current, const fs::path& spare,
                     const std::vector<FileFacts>& files);

  const fs::path data_;
  const postproc::fleet::RunFilter filter_;
  Session& session_;
  std::ostream& out_;
  size_t before_ = 0;  // files
  size_t after_ = 0;
};

// Of a process that was killed.
absl::Status Compaction::FinishKilled() {
  std::vector<fs::path> spares;
  std::error_code error;
  for (fs::recursive_directory_iterator it(data_ / postproc::fleet::kCompactFolder, error), end;
       !error && it != end; it.increment(error)) {
    if (it.depth() == 3 && it->is_directory(error)) spares.push_back(it->path());
  }
  for (const fs::path& spare : spares) {
    const fs::path table_and_place =
        spare.lexically_relative(data_ / postproc::fleet::kCompactFolder);
    const fs::path place = table_and_place.lexically_relative(*table_and_place.begin());
    const auto lock = PlaceLock::ToMerge(data_, place, kPatience);
    if (!lock.has_value()) {
      return absl::UnavailableError(
          StrCat(place.string(), ": a conversion writes there; call jtrace fleet compact again"));
    }
    const fs::path current = data_ / table_and_place;
    if (const auto done = FinishSwap(current, spare); !done.ok()) return done.status();
  }
  return absl::OkStatus();
}

// "service=…/day=…/host=…" of days that are over, and that the filter has.
std::vector<fs::path> Compaction::PastPlaces() const {
  const std::string today = absl::FormatTime("%Y-%m-%d", absl::Now(), absl::UTCTimeZone());
  std::set<fs::path> places;
  for (const TablePlace& place : PlacesOf(data_ / "runs")) {
    const bool is_past = place.day.size() == today.size() && place.day < today;
    const bool is_wanted = (filter_.service.empty() || filter_.service == place.service) &&
                           (filter_.day.empty() || filter_.day == place.day) &&
                           (filter_.host.empty() || filter_.host == place.host);
    if (is_past && is_wanted) places.insert(place.folder);
  }
  return {places.begin(), places.end()};
}

// jtrace-post does not convert these again.
absl::Status Compaction::NoteRuns(const fs::path& spare, const std::string& name) {
  const absl::StatusOr<Answer> runs = session_.Query(
      StrCat("SELECT run_id FROM read_parquet(", Literal((spare / name).string()), ")"));
  if (!runs.ok()) return runs.status();
  std::vector<int64_t> ids;
  const AnswerRows rows(*runs);
  for (size_t row = 0; row < rows.size(); ++row) ids.push_back(rows.Number(row, "run_id"));
  return postproc::fleet::WriteMergedRuns(spare, ids);
}

absl::Status Compaction::Merge(TableId table, const fs::path& current, const fs::path& spare,
                               const std::vector<FileFacts>& files) {
  std::string names;
  for (const FileFacts& file : files) postproc::StrAppend(&names, file.name, "\n");
  const std::string name =
      StrCat(kMergedFile,
             absl::StrFormat("%016x", static_cast<uint64_t>(postproc::fleet::StableId(names))),
             ".parquet");
  const std::string rows = RowsOf(current, files);
  const std::string distinct = IsOfFiles(table) ? "DISTINCT " : "";
  const absl::StatusOr<Answer> copied = session_.Query(
      StrCat("COPY (SELECT ", distinct, "* FROM ", rows, " ORDER BY ", OrderOf(table), ") TO ",
             Literal((spare / name).string()),
             " (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 6, "
             "KV_METADATA {'jtrace.table': ",
             Literal(postproc::fleet::TableName(table)), ", 'jtrace.schema_version': '",
             postproc::fleet::kSchemaVersion, "'})"));
  if (!copied.ok()) return copied.status();
  const std::string wanted =
      StrCat("(SELECT COUNT(*) FROM (SELECT ", distinct, "* FROM ", rows, "))");
  const absl::StatusOr<int64_t> missing =
      NumberOf(session_, StrCat("SELECT ", wanted, " - COUNT(*) FROM read_parquet(",
                                Literal((spare / name).string()), ")"));
  if (!missing.ok()) return missing.status();
  if (*missing == 0) {
    return table == postproc::fleet::kRuns ? NoteRuns(spare, name) : absl::OkStatus();
  }
  return absl::InternalError(
      StrCat(current.string(), ": the merged file has other rows; it is left as it is"));
}

absl::Status Compaction::CompactTable(TableId table, const fs::path& place) {
  const fs::path current = data_ / postproc::fleet::TableName(table) / place;
  const fs::path spare =
      data_ / postproc::fleet::kCompactFolder / postproc::fleet::TableName(table) / place;
  std::error_code error;
  if (!fs::exists(current, error)) return absl::OkStatus();
  const absl::StatusOr<std::vector<FileFacts>> files = FilesOf(current);
  if (!files.ok()) return files.status();
  const size_t tables = TablesOf(*files);
  if (tables < 2) return absl::OkStatus();
  if (absl::Status status = BeginSwap(current, spare); !status.ok()) return status;
  absl::Status status = Merge(table, current, spare, *files);
  if (status.ok()) status = Swap(current, spare, *files);
  const absl::StatusOr<bool> done = FinishSwap(current, spare);
  for (fs::path above = spare.parent_path(); above != data_ / postproc::fleet::kCompactFolder;
       above = above.parent_path()) {
    rmdir(above.c_str());  // if nothing else is in it
  }
  if (!status.ok()) return status;
  if (!done.ok()) return done.status();
  if (!*done) {
    out_ << current.string() << ": left as it is, something was written into it meanwhile\n";
    return absl::OkStatus();
  }
  before_ += tables;
  ++after_;
  return absl::OkStatus();
}

// `runs` first: from then on a conversion of one of its runs is an error.
absl::Status Compaction::CompactPlace(const fs::path& place) {
  const auto lock = PlaceLock::ToMerge(data_, place, kPatience);
  if (!lock.has_value()) {
    out_ << place.string() << ": left as it is, a conversion writes there\n";
    return absl::OkStatus();
  }
  const absl::StatusOr<std::string> reason = WhyNotMerge(data_, place, session_);
  if (!reason.ok()) return reason.status();
  if (!reason->empty()) {
    out_ << place.string() << ": left as it is, " << *reason << '\n';
    return absl::OkStatus();
  }
  for (size_t i = 0; i < postproc::fleet::kTables; ++i) {
    if (absl::Status status = CompactTable(static_cast<TableId>(i), place); !status.ok())
      return status;
  }
  return absl::OkStatus();
}

absl::Status Compaction::Run() {
  std::error_code error;
  fs::create_directories(data_ / postproc::fleet::kCompactFolder, error);
  const int lock = open((data_ / postproc::fleet::kCompactFolder / "lock").c_str(),
                        O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock < 0)
    return absl::UnavailableError(
        StrCat("cannot write into ", data_.string(), ": ", strerror(errno)));
  const absl::Cleanup unlock = [lock] { close(lock); };
  if (!postproc::TakeLock(lock, LOCK_EX)) {
    return absl::UnavailableError(
        StrCat("another jtrace fleet compact works on ", data_.string(), "; wait for it"));
  }
  if (absl::Status status = FinishKilled(); !status.ok()) return status;
  for (const fs::path& place : PastPlaces()) {
    if (absl::Status status = CompactPlace(place); !status.ok()) return status;
  }
  if (before_ == 0) {
    out_ << "no files of past days (UTC) to merge\n";
  } else {
    out_ << WithNoun(before_, "file of past days is", "files of past days are") << " " << after_
         << " now\n";
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CompactFleet(const FleetOptions& options, std::ostream& out) {
  absl::StatusOr<Session> session = OpenDuckDb(options);
  if (!session.ok()) return session.status();
  return Compaction(options, *session, out).Run();
}

}  // namespace jtrace::control
