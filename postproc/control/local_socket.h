// A client's end of a Unix socket.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace jtrace::control {

class LocalSocket {
 public:
  // Connects to what listens at `path` as `user` or as root. NotFound if nobody does;
  // PermissionDenied if somebody else does.
  static absl::StatusOr<LocalSocket> Connect(const std::string& path, unsigned user);
  LocalSocket(LocalSocket&& other) noexcept;
  ~LocalSocket();
  LocalSocket(const LocalSocket&) = delete;
  LocalSocket& operator=(const LocalSocket&) = delete;

  // Send and Receive fail (DeadlineExceeded) when nothing moves for that long.
  void LimitWaiting(std::chrono::milliseconds patience);

  absl::Status Send(std::string_view data);
  // What has come, at least a byte; "" at the end.
  absl::StatusOr<std::string> Receive();

 private:
  explicit LocalSocket(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace jtrace::control
