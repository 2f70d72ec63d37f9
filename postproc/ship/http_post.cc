#include "postproc/ship/http_post.h"

#include <errno.h>
#include <stdio.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "absl/cleanup/cleanup.h"
#include "postproc/support/strings.h"
#include "postproc/version.h"

namespace jtrace::ship {
namespace {

using postproc::StrCat;

constexpr size_t kMostText = 4096;
constexpr absl::Duration kConnect = absl::Seconds(10);

size_t ReadBody(char* buffer, size_t size, size_t count, void* file) {
  return fread(buffer, size, count, static_cast<FILE*>(file));
}

// Another try on a new connection begins again.
int SeekBody(void* file, int64_t offset, int origin) {
  return fseeko(static_cast<FILE*>(file), offset, origin) == 0 ? 0 : 1;
}

size_t KeepText(const char* data, size_t size, size_t count, void* text) {
  auto& kept = *static_cast<std::string*>(text);
  kept.append(data, std::min(size * count, kMostText - kept.size()));
  return size * count;
}

// Not 0: ends the request.
int AskStop(void* stop, int64_t, int64_t, int64_t, int64_t) {
  return static_cast<StopSignal*>(stop)->requested() ? 1 : 0;
}

}  // namespace

HttpPost::HttpPost(const Curl& curl) : curl_(curl), handle_(curl.init()) {}

HttpPost::~HttpPost() {
  if (handle_ != nullptr) curl_.cleanup(handle_);
}

absl::StatusOr<HttpAnswer> HttpPost::Send(const HttpRequest& request, StopSignal& stop) {
  if (handle_ == nullptr) return absl::UnavailableError("libcurl cannot begin");
  const std::unique_ptr<FILE, int (*)(FILE*)> body(fopen(request.body_file.c_str(), "rbe"), fclose);
  std::error_code none;
  const uintmax_t size = std::filesystem::file_size(request.body_file, none);
  if (body == nullptr || none) {
    return absl::UnavailableError(StrCat("cannot read ", request.body_file));
  }
  void* list = curl_.append(nullptr, "Expect:");  // no question before the body
  for (const std::string& header : request.headers) list = curl_.append(list, header.c_str());
  const absl::Cleanup freed = [&] { curl_.free_all(list); };
  HttpAnswer answer;
  char error[kCurlErrorSize] = {};
  const auto set = [&](int option, auto value) { curl_.set(handle_, option, value); };
  set(kCurlUrl, request.url.c_str());
  set(kCurlPost, 1L);
  set(kCurlPostSize, static_cast<int64_t>(size));
  set(kCurlReadFunction, &ReadBody);
  set(kCurlReadData, body.get());
  set(kCurlSeekFunction, &SeekBody);
  set(kCurlSeekData, body.get());
  set(kCurlWriteFunction, &KeepText);
  set(kCurlWriteData, &answer.text);
  set(kCurlHttpHeader, list);
  set(kCurlUserAgent, StrCat("jtrace/", postproc::kVersion).c_str());  // copied
  set(kCurlErrorBuffer, static_cast<char*>(error));
  set(kCurlNoSignal, 1L);
  constexpr long kHttpAndHttps = 3;  // NOLINT(google-runtime-int)
  set(kCurlProtocols, kHttpAndHttps);
  const auto milliseconds = [](absl::Duration time) {
    return static_cast<long>(absl::ToInt64Milliseconds(time));  // NOLINT(google-runtime-int)
  };
  set(kCurlTimeoutMs, milliseconds(request.longest));
  set(kCurlConnectTimeoutMs, milliseconds(std::min(kConnect, request.longest)));
  set(kCurlNoProgress, 0L);
  set(kCurlProgressFunction, &AskStop);
  set(kCurlProgressData, &stop);
  const int code = curl_.perform(handle_);
  set(kCurlErrorBuffer, static_cast<char*>(nullptr));
  if (code != kCurlOk && stop.requested()) {
    return absl::CancelledError("this program was stopped");
  }
  if (code != kCurlOk) {
    return absl::UnavailableError(error[0] != '\0' ? static_cast<const char*>(error)
                                                   : curl_.error(code));
  }
  long status = 0;  // NOLINT(google-runtime-int): as curl.h has it
  int64_t retry_after = 0;
  curl_.info(handle_, kCurlResponseCode, &status);
  curl_.info(handle_, kCurlRetryAfter, &retry_after);
  answer.code = status;
  answer.retry_after = absl::Seconds(std::max<int64_t>(retry_after, 0));
  return answer;
}

}  // namespace jtrace::ship
