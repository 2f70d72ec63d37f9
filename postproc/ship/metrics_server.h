// --metrics=ADDRESS:PORT: serves the metrics to Prometheus, on a thread of its own.
//
// It answers GET /metrics and nothing else. A request has five seconds, as has its answer; there
// are at most kMostConnections, beyond which new ones are closed.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace jtrace::ship {

class MetricsServer {
 public:
  static constexpr size_t kMostConnections = 16;

  // `place`: "127.0.0.1:9477"; port 0: any that is free. Unavailable, one line, if it is in use;
  // InvalidArgument if it is not an address.
  static absl::StatusOr<std::unique_ptr<MetricsServer>> Listen(std::string_view place);
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  int port() const;
  // What is served from now on. Any thread.
  void Set(std::string text);

 private:
  struct Shared;
  class Connection;
  struct Server;
  explicit MetricsServer(std::unique_ptr<Server> server);
  const std::unique_ptr<Server> server_;
};

// "127.0.0.1:9477" or "[::1]:9477"; InvalidArgument for others.
absl::Status CheckPlace(std::string_view place);

}  // namespace jtrace::ship
