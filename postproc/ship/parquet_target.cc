#include "postproc/ship/parquet_target.h"

#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "postproc/fleet/schema.h"
#include "postproc/ship/durable.h"
#include "postproc/ship/target_key.h"
#include "postproc/support/strings.h"

namespace jtrace::ship {
namespace {

using postproc::StrCat;
namespace fs = std::filesystem;

// Other programs may write here, too: theirs are younger.
constexpr auto kAbandoned = std::chrono::minutes(30);

// "NAME.parquet.PID.part"
bool IsPartOfTable(std::string_view name) {
  if (!postproc::ConsumeSuffix(name, ".part")) return false;
  const size_t digits = name.find_last_not_of("0123456789");
  if (digits == std::string_view::npos || digits + 1 == name.size()) return false;
  return name.substr(0, digits + 1).ends_with(".parquet.");
}

// The folders of a folder whose names begin so; links are not followed.
std::vector<fs::path> FoldersIn(const std::vector<fs::path>& above, std::string_view begin) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (const fs::path& each : above) {
    for (fs::directory_iterator it(each, error), end; !error && it != end; it.increment(error)) {
      std::error_code none;
      const bool is_folder = fs::is_directory(it->symlink_status(none));
      if (is_folder && it->path().filename().string().starts_with(begin)) {
        folders.push_back(it->path());
      }
    }
  }
  return folders;
}

void RemoveAbandonedIn(const fs::path& folder) {
  std::error_code error;
  const auto now = fs::file_time_type::clock::now();
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code none;
    const bool is_part = fs::is_regular_file(it->symlink_status(none)) &&
                         IsPartOfTable(it->path().filename().string());
    if (is_part && now - it->last_write_time(none) > kAbandoned) RemoveFile(it->path().string());
  }
}

// Only files of the form that jtrace-post makes: others may be anybody's.
void RemoveAbandoned(const std::string& folder) {
  std::vector<fs::path> tables;
  for (size_t i = 0; i < postproc::fleet::kTables; ++i) {
    const fs::path table =
        fs::path(folder) / postproc::fleet::TableName(static_cast<postproc::fleet::TableId>(i));
    std::error_code none;
    if (fs::is_directory(fs::symlink_status(table, none))) tables.push_back(table);
  }
  for (const fs::path& each :
       FoldersIn(FoldersIn(FoldersIn(tables, "service="), "day="), "host=")) {
    RemoveAbandonedIn(each);
  }
}

}  // namespace

ParquetTarget::ParquetTarget(std::string folder, Converter converter)
    : folder_(std::move(folder)),
      converter_(std::move(converter)),
      name_(StrCat("parquet:", folder_)),
      key_(TargetKey("parquet", folder_)) {}

absl::Status ParquetTarget::Open() {
  if (absl::Status status = MakeFolder(folder_); !status.ok()) return status;
  RemoveAbandoned(folder_);
  return absl::OkStatus();
}

Delivery ParquetTarget::Deliver(const SealedTrace& trace, StopSignal& stop) {
  Delivery delivery = converter_.Convert(trace, "parquet", {}, folder_, stop);
  if (delivery.outcome != Delivery::Outcome::kDelivered) return delivery;
  if (const absl::Status status = SyncFileSystem(folder_); !status.ok()) {
    return {.outcome = Delivery::Outcome::kLater, .message = std::string(status.message())};
  }
  return delivery;
}

}  // namespace jtrace::ship
