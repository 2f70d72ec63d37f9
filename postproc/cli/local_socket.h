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

  // Connects to what listens at `path` below the folder `root` (root_folder.h) as `user` or as
  // root. NotFound if nobody does; PermissionDenied if somebody else does. `patience`: how long a
  // listener may keep us waiting.
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
  // What has come, at least a byte; "" at the end.
  absl::StatusOr<std::string> Receive();

 private:
  explicit LocalSocket(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace jtrace::control
