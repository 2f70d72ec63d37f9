#include "postproc/ship/parquet_target.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "postproc/ship/durable.h"
#include "postproc/ship/target_key.h"
#include "postproc/support/strings.h"

namespace jtrace::ship {
namespace {

using postproc::StrCat;

// Other programs may write here, too: theirs are younger.
constexpr auto kAbandoned = std::chrono::minutes(30);

void RemoveAbandoned(const std::string& folder) {
  std::error_code error;
  const auto now = std::filesystem::file_time_type::clock::now();
  for (std::filesystem::recursive_directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    std::error_code none;
    const bool is_part = it->path().extension() == ".part" && it->is_regular_file(none);
    if (is_part && now - it->last_write_time(none) > kAbandoned) RemoveFile(it->path().string());
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
