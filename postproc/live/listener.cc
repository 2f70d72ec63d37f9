#include "postproc/live/listener.h"

#include <fcntl.h>

#include <chrono>
#include <utility>

#include "postproc/support/strings.h"

namespace jtrace::live {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;

constexpr std::chrono::milliseconds kRetry{100};

// Child processes, which may run longer than a connection, must not keep it open.
void KeepFromChildren(int fd) { fcntl(fd, F_SETFD, FD_CLOEXEC); }

}  // namespace

absl::Status Listener::Open(const tcp::endpoint& here, size_t most, std::string_view remedy) {
  error_code error;
  acceptor_.open(here.protocol(), error);
  if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor_.bind(here, error);
  if (!error) acceptor_.listen(static_cast<int>(most), error);
  if (error) {
    return absl::UnavailableError(
        postproc::StrCat("cannot listen on port ", here.port(), ": ", error.message(), remedy));
  }
  KeepFromChildren(acceptor_.native_handle());
  return absl::OkStatus();
}

uint16_t Listener::port() const {
  error_code ignored;
  return acceptor_.local_endpoint(ignored).port();
}

void Listener::Start(Accepted accepted) {
  accepted_ = std::move(accepted);
  Accept();
}

void Listener::Accept() {
  acceptor_.async_accept([this](error_code error, tcp::socket socket) {
    if (error == boost::asio::error::operation_aborted) return;
    if (!error) {
      KeepFromChildren(socket.native_handle());
      accepted_(std::move(socket));
      return Accept();
    }
    // Without descriptors, for one: not at once again, which would take the whole processor.
    retry_.expires_after(kRetry);
    retry_.async_wait([this](error_code cancelled) {
      if (!cancelled) Accept();
    });
  });
}

}  // namespace jtrace::live
