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
  kept.append(data, std::min(size * count, HttpAnswer::kMostText - kept.size()));
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

void HttpPost::SetTimes(absl::Duration longest) {
  const auto milliseconds = [](absl::Duration time) {
    return static_cast<long>(absl::ToInt64Milliseconds(time));  // NOLINT(google-runtime-int)
  };
  curl_.set(handle_, kCurlTimeoutMs, milliseconds(longest));
  curl_.set(handle_, kCurlConnectTimeoutMs, milliseconds(std::min(kConnect, longest)));
}

void HttpPost::SetRequest(const HttpRequest& request, const Exchange& exchange) {
  const auto set = [&](int option, auto value) { curl_.set(handle_, option, value); };
  constexpr long kHttpAndHttps = 3;  // NOLINT(google-runtime-int): as curl.h has it
  set(kCurlUrl, request.url.c_str());
  set(kCurlProtocols, kHttpAndHttps);
  set(kCurlPost, 1L);
  set(kCurlPostSize, exchange.size);
  set(kCurlReadFunction, &ReadBody);
  set(kCurlReadData, exchange.body);
  set(kCurlSeekFunction, &SeekBody);
  set(kCurlSeekData, exchange.body);
  set(kCurlWriteFunction, &KeepText);
  set(kCurlWriteData, exchange.text);
  set(kCurlHttpHeader, exchange.headers);
  set(kCurlUserAgent, StrCat("jtrace/", postproc::kVersion).c_str());  // copied
  set(kCurlNoSignal, 1L);
  set(kCurlNoProgress, 0L);
  set(kCurlProgressFunction, &AskStop);
  set(kCurlProgressData, exchange.stop);
  SetTimes(request.longest);
}

absl::Status HttpPost::Perform(StopSignal& stop) {
  char error[kCurlErrorSize] = {};
  curl_.set(handle_, kCurlErrorBuffer, static_cast<char*>(error));
  const int code = curl_.perform(handle_);
  curl_.set(handle_, kCurlErrorBuffer, static_cast<char*>(nullptr));
  if (code == kCurlOk) return absl::OkStatus();
  if (stop.requested()) return absl::CancelledError("this program was stopped");
  const char* const reason = error[0] != '\0' ? static_cast<const char*>(error) : curl_.error(code);
  return absl::UnavailableError(reason);
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
  SetRequest(request, {.body = body.get(),
                       .size = static_cast<int64_t>(size),
                       .headers = list,
                       .text = &answer.text,
                       .stop = &stop});
  if (absl::Status status = Perform(stop); !status.ok()) return status;
  long code = 0;  // NOLINT(google-runtime-int): as curl.h has it
  int64_t retry_after = 0;
  curl_.info(handle_, kCurlResponseCode, &code);
  curl_.info(handle_, kCurlRetryAfter, &retry_after);
  answer.code = code;
  answer.retry_after = absl::Seconds(std::max<int64_t>(retry_after, 0));
  return answer;
}

}  // namespace jtrace::ship
