// The part of libcurl that jtrace uses, from a library that is loaded by its absolute path. The
// build needs nothing of it.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace jtrace::ship {

// Numbers as curl.h has them; they never change.
enum CurlOption {
  kCurlReadData = 10009,
  kCurlErrorBuffer = 10010,
  kCurlWriteData = 10001,
  kCurlUrl = 10002,
  kCurlUserAgent = 10018,
  kCurlHttpHeader = 10023,
  kCurlNoProgress = 43,
  kCurlPost = 47,
  kCurlProgressData = 10057,
  kCurlNoSignal = 99,
  kCurlTimeoutMs = 155,
  kCurlConnectTimeoutMs = 156,
  kCurlSeekData = 10168,
  kCurlProtocols = 181,
  kCurlWriteFunction = 20011,
  kCurlReadFunction = 20012,
  kCurlSeekFunction = 20167,
  kCurlProgressFunction = 20219,
  kCurlPostSize = 30120,
};
enum CurlInfo { kCurlResponseCode = 0x200002, kCurlRetryAfter = 0x600039 };
constexpr int kCurlOk = 0;
constexpr size_t kCurlErrorSize = 256;

struct Curl {
  void* (*init)() = nullptr;
  void (*cleanup)(void* handle) = nullptr;
  int (*set)(void* handle, int option, ...) = nullptr;
  int (*perform)(void* handle) = nullptr;
  int (*info)(void* handle, int info, ...) = nullptr;
  const char* (*error)(int code) = nullptr;
  void* (*append)(void* list, const char* text) = nullptr;
  void (*free_all)(void* list) = nullptr;
};

// It stays loaded. `path`: absolute; empty: jtrace's lib folder `own`, then where systems have it.
// NotFound, one line with the remedy.
absl::StatusOr<Curl> LoadCurl(const std::string& path, const std::string& own);

}  // namespace jtrace::ship
