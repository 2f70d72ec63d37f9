#include "postproc/ship/curl_library.h"

#include <dlfcn.h>

#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "postproc/support/strings.h"

namespace jtrace::ship {
namespace {

using postproc::StrCat;

constexpr std::string_view kRemedy =
    "install it (Debian: libcurl4, Fedora: libcurl), or name a libcurl.so.4 with --curl=PATH";

template <typename Function>
bool Find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

// Absolute paths only: what LD_LIBRARY_PATH names is anybody's.
std::vector<std::string> Places(const std::string& own) {
  std::vector<std::string> places;
  for (const std::string& folder :
       {own, std::string("/usr/lib/x86_64-linux-gnu"), std::string("/usr/lib/aarch64-linux-gnu"),
        std::string("/usr/lib64"), std::string("/usr/lib")}) {
    if (!folder.starts_with('/')) continue;
    places.push_back(StrCat(folder, "/libcurl.so.4"));
    places.push_back(StrCat(folder, "/libcurl-gnutls.so.4"));
  }
  return places;
}

absl::StatusOr<Curl> Load(const std::string& path) {
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const error = dlerror();
    return absl::NotFoundError(StrCat("libcurl cannot be loaded (",
                                      error != nullptr ? error : "unknown error", "): ", kRemedy));
  }
  Curl it;
  int (*global)(long flags) = nullptr;  // NOLINT(google-runtime-int): as curl.h has it
  const bool is_complete =
      Find(handle, "curl_easy_init", it.init) && Find(handle, "curl_easy_cleanup", it.cleanup) &&
      Find(handle, "curl_easy_setopt", it.set) && Find(handle, "curl_easy_perform", it.perform) &&
      Find(handle, "curl_easy_getinfo", it.info) && Find(handle, "curl_easy_strerror", it.error) &&
      Find(handle, "curl_slist_append", it.append) &&
      Find(handle, "curl_slist_free_all", it.free_all) && Find(handle, "curl_global_init", global);
  constexpr int kAll = 3;
  if (!is_complete || global(kAll) != kCurlOk) {
    return absl::NotFoundError(StrCat(path, " is not libcurl 7.66 or later: ", kRemedy));
  }
  return it;
}

}  // namespace

absl::StatusOr<Curl> LoadCurl(const std::string& path, const std::string& own) {
  if (!path.empty()) {
    if (path.starts_with('/')) return Load(path);
    return absl::NotFoundError(StrCat("--curl=", path, " is not an absolute path"));
  }
  for (const std::string& place : Places(own)) {
    std::error_code none;
    if (std::filesystem::exists(place, none)) return Load(place);
  }
  return absl::NotFoundError(StrCat("libcurl is not on this system: ", kRemedy));
}

}  // namespace jtrace::ship
