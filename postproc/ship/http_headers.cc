#include "postproc/ship/http_headers.h"

#include <algorithm>
#include <fstream>

#include "absl/strings/ascii.h"
#include "postproc/support/strings.h"

namespace jtrace::ship {
namespace {

using postproc::StrCat;

bool IsHeader(std::string_view line) {
  const size_t colon = line.find(':');
  if (colon == 0 || colon == std::string_view::npos) return false;
  const std::string_view name = line.substr(0, colon);
  const bool has_name = std::all_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_';
  });
  return has_name && std::none_of(line.begin(), line.end(), [](char c) {
           return absl::ascii_iscntrl(static_cast<unsigned char>(c)) && c != '\t';
         });
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ReadHeaders(const std::string& file) {
  std::ifstream in(file);
  if (!in) return absl::NotFoundError(StrCat("--header-file: cannot read ", file));
  std::vector<std::string> headers;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty() || line.starts_with('#')) continue;
    if (!IsHeader(line)) {
      return absl::InvalidArgumentError(
          StrCat("--header-file: line ", number, " of ", file, " is not a header, Name: value"));
    }
    headers.push_back(line);
  }
  return headers;
}

}  // namespace jtrace::ship
