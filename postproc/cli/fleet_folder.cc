#include "postproc/cli/fleet_folder.h"

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

constexpr std::string_view kKeys[] = {"service", "day", "host"};

absl::Status CheckFilter(std::vector<TablePlace> places, const postproc::fleet::RunFilter& filter) {
  const std::string* const wanted[] = {&filter.service, &filter.day, &filter.host};
  constexpr std::string TablePlace::*kParts[] = {&TablePlace::service, &TablePlace::day,
                                                 &TablePlace::host};
  std::string chosen;
  for (size_t i = 0; i < std::size(wanted); ++i) {
    if (wanted[i]->empty()) continue;
    std::set<std::string> known;
    for (const TablePlace& place : places) known.insert(place.*kParts[i]);
    if (!known.contains(*wanted[i])) {
      return absl::InvalidArgumentError(StrCat("--", kKeys[i], ": no run", chosen, " has the ",
                                               kKeys[i], " '", *wanted[i], "'; nearest of ",
                                               known.size(), ": ", Nearest(*wanted[i], known)));
    }
    std::erase_if(places, [&](const TablePlace& place) { return place.*kParts[i] != *wanted[i]; });
    postproc::StrAppend(&chosen, " of the ", kKeys[i], " ", *wanted[i]);
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<TablePlace> PlacesOf(const std::filesystem::path& table) {
  std::vector<TablePlace> places;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator it(table, error), end; !error && it != end;
       it.increment(error)) {
    if (it->path().extension() != ".parquet") continue;
    TablePlace& place = places.emplace_back();
    place.folder = it->path().parent_path().lexically_relative(table);
    std::filesystem::path folder = place.folder;
    for (std::string* const part : {&place.host, &place.day, &place.service}) {
      const std::string name = folder.filename().string();
      *part = postproc::DecodePercents(name.substr(name.find('=') + 1));
      folder = folder.parent_path();
    }
  }
  return places;
}

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
