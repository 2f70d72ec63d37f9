#include "postproc/live/http_server.h"

#include <fcntl.h>

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <utility>

#include "postproc/live/http_connection.h"
#include "postproc/support/strings.h"

namespace jtrace::live {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::chrono::milliseconds kRetry{100};

// Child processes, which may run longer than a connection, must not keep it open.
void KeepFromChildren(int fd) { fcntl(fd, F_SETFD, FD_CLOEXEC); }

}  // namespace

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Listen(asio::io_context& context,
                                                               uint16_t port, std::string token,
                                                               Content content) {
  const tcp::endpoint here(asio::ip::address_v4::loopback(), port);
  tcp::acceptor acceptor(context);
  error_code error;
  acceptor.open(here.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(here, error);
  if (!error) acceptor.listen(static_cast<int>(kMostConnections), error);
  if (error) {
    return absl::UnavailableError(postproc::StrCat("cannot listen on port ", port, ": ",
                                                   error.message(),
                                                   "; choose another one with --port="));
  }
  KeepFromChildren(acceptor.native_handle());
  Access access(std::move(token), acceptor.local_endpoint(error).port());
  std::unique_ptr<HttpServer> server(
      new HttpServer(std::move(acceptor), std::move(access), std::move(content)));
  server->Accept();
  return server;
}

HttpServer::HttpServer(tcp::acceptor acceptor, Access access, Content content)
    : acceptor_(std::move(acceptor)),
      retry_(acceptor_.get_executor()),
      access_(std::move(access)),
      content_(std::move(content)) {}

HttpServer::~HttpServer() = default;

void HttpServer::Accept() {
  acceptor_.async_accept([this](error_code error, tcp::socket socket) {
    if (error == asio::error::operation_aborted) return;
    if (!error) {
      Add(std::move(socket));
      return Accept();
    }
    // Without descriptors, for one: not at once again, which would take the whole processor.
    retry_.expires_after(kRetry);
    retry_.async_wait([this](error_code cancelled) {
      if (!cancelled) Accept();
    });
  });
}

void HttpServer::Add(tcp::socket socket) {
  KeepFromChildren(socket.native_handle());
  MakeRoom();
  const auto connection = std::make_shared<HttpConnection>(std::move(socket), *this);
  connections_.push_back(connection);
  connection->Start();
}

void HttpServer::MakeRoom() {
  connections_.remove_if([](const auto& each) { return each.expired(); });
  if (connections_.size() < kMostConnections) return;
  auto leaving = std::find_if(connections_.begin(), connections_.end(),
                              [](const auto& each) { return !each.lock()->is_trusted(); });
  if (leaving == connections_.end()) leaving = connections_.begin();
  leaving->lock()->Close();
  connections_.erase(leaving);
}

}  // namespace jtrace::live
