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
  static constexpr std::chrono::milliseconds kConnectPatience = std::chrono::seconds(10);

  // Connects to the listener at `path` below the folder `root` (root_folder.h), which must run as
  // `user` or as root. NotFound if there is none; PermissionDenied if another user's listens.
  // `patience`: the longest wait for a listener.
  static absl::StatusOr<LocalSocket> Connect(const std::string& root, std::string_view path,
                                             unsigned user,
                                             std::chrono::milliseconds patience = kConnectPatience);
  LocalSocket(LocalSocket&& other) noexcept;
  ~LocalSocket();
  LocalSocket(const LocalSocket&) = delete;
  LocalSocket& operator=(const LocalSocket&) = delete;

  // Send and Receive fail (DeadlineExceeded) when nothing moves for that long.
  void LimitWaiting(std::chrono::milliseconds patience);

  absl::Status Send(std::string_view data);
  // The bytes received, at least one; "" at the end.
  absl::StatusOr<std::string> Receive();

 private:
  explicit LocalSocket(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace jtrace::control
