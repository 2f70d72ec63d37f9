// Sends a file to a server, by libcurl.
#pragma once

#include <stdio.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "postproc/ship/curl_library.h"
#include "postproc/ship/stop_signal.h"

namespace jtrace::ship {

struct HttpRequest {
  std::string url;                        // http:// or https://
  std::vector<std::string> headers = {};  // "Name: value"
  std::string body_file;
  absl::Duration longest = absl::Seconds(30);
};

struct HttpAnswer {
  static constexpr size_t kMostText = size_t{64} << 10;

  int64_t code = 0;
  std::string text = {};  // the beginning of it, kMostText at most
  absl::Duration retry_after = absl::ZeroDuration();
};

// Keeps its connection open between requests. Redirections are not followed: headers may have a
// password.
class HttpPost {
 public:
  explicit HttpPost(const Curl& curl);
  ~HttpPost();
  HttpPost(const HttpPost&) = delete;
  HttpPost& operator=(const HttpPost&) = delete;

  // Unavailable without an answer; Cancelled when a stop is requested meanwhile.
  absl::StatusOr<HttpAnswer> Send(const HttpRequest& request, StopSignal& stop);

 private:
  // What libcurl reads and writes meanwhile.
  struct Exchange {
    FILE* body = nullptr;
    int64_t size = 0;
    void* headers = nullptr;
    std::string* text = nullptr;
    StopSignal* stop = nullptr;
  };
  void SetTimes(absl::Duration longest);
  void SetRequest(const HttpRequest& request, const Exchange& exchange);
  absl::Status Perform(StopSignal& stop);

  const Curl curl_;
  void* const handle_;
};

}  // namespace jtrace::ship
