#include "postproc/ship/url.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "postproc/support/strings.h"

namespace jtrace::ship {
namespace {

using postproc::StrCat;

// Where the host ends, in "http://host:1/path?query".
size_t EndOfHost(std::string_view url) {
  const size_t host = url.find("://") + 3;
  return std::min(url.find_first_of("/?#", host), url.size());
}

}  // namespace

absl::StatusOr<std::string> UrlWithPath(std::string_view text, std::string_view usual_path) {
  const bool is_http = text.starts_with("http://") || text.starts_with("https://");
  const bool is_plain = std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isgraph(static_cast<unsigned char>(c));
  });
  const size_t end = is_http ? EndOfHost(text) : 0;
  if (!is_http || !is_plain || end == text.find("://") + 3) {
    return absl::InvalidArgumentError(StrCat("'", is_http ? ShownUrl(text) : text,
                                             "' is not a URL such as http://localhost:4318"));
  }
  const std::string_view path = text.substr(end);
  if (path.empty() || path == "/") return StrCat(text.substr(0, end), usual_path);
  return std::string(text.substr(0, text.find('#')));
}

std::string ShownUrl(std::string_view url) {
  const size_t host = url.find("://") + 3;
  const size_t end = EndOfHost(url);
  const size_t at = url.substr(0, end).rfind('@');
  const size_t begin = at == std::string_view::npos || at < host ? host : at + 1;
  const std::string_view rest = url.substr(begin);
  return StrCat(url.substr(0, host), rest.substr(0, rest.find_first_of("?#")));
}

std::string WithQuery(std::string_view url, std::string_view query) {
  return StrCat(url, url.find('?') == std::string_view::npos ? "?" : "&", query);
}

}  // namespace jtrace::ship
