#include "postproc/cli/fleet_folder.h"

#include <array>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "common/nearest.h"
#include "postproc/support/percent.h"
#include "postproc/support/strings.h"

namespace jtrace::control {
namespace {

using postproc::StrCat;

// Service, day and host.
using Place = std::array<std::string, 3>;
constexpr std::string_view kKeys[] = {"service", "day", "host"};

// Those that have files of runs, from the names of their folders.
std::vector<Place> PlacesOf(const std::filesystem::path& runs) {
  std::vector<Place> places;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator it(runs, error), end; !error && it != end;
       it.increment(error)) {
    if (it->path().extension() != ".parquet") continue;
    Place& place = places.emplace_back();
    std::filesystem::path folder = it->path().parent_path();
    for (size_t i = place.size(); i-- > 0; folder = folder.parent_path()) {
      const std::string name = folder.filename().string();
      place[i] = postproc::DecodePercents(name.substr(name.find('=') + 1));
    }
  }
  return places;
}

absl::Status CheckFilter(std::vector<Place> places, const postproc::fleet::RunFilter& filter) {
  const std::string* const wanted[] = {&filter.service, &filter.day, &filter.host};
  std::string chosen;
  for (size_t i = 0; i < std::size(wanted); ++i) {
    if (wanted[i]->empty()) continue;
    std::set<std::string> known;
    for (const Place& place : places) known.insert(place[i]);
    if (!known.contains(*wanted[i])) {
      return absl::InvalidArgumentError(StrCat("--", kKeys[i], ": no run", chosen, " has the ",
                                               kKeys[i], " '", *wanted[i], "'; nearest of ",
                                               known.size(), ": ", Nearest(*wanted[i], known)));
    }
    std::erase_if(places, [&](const Place& place) { return place[i] != *wanted[i]; });
    postproc::StrAppend(&chosen, " of the ", kKeys[i], " ", *wanted[i]);
  }
  return absl::OkStatus();
}

}  // namespace

bool HasTables(const std::filesystem::path& folder) {
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    if (it->path().extension() == ".parquet") return true;
  }
  return false;
}

absl::Status CheckFolder(const std::filesystem::path& data,
                         const postproc::fleet::RunFilter& filter) {
  if (!HasTables(data / "runs")) {
    return absl::NotFoundError(StrCat(
        data.string(), " has no tables of runs; jtrace-post --report=parquet -o DIR writes them"));
  }
  const bool has_filter = !filter.service.empty() || !filter.day.empty() || !filter.host.empty();
  return has_filter ? CheckFilter(PlacesOf(data / "runs"), filter) : absl::OkStatus();
}

}  // namespace jtrace::control
