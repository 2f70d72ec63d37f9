#include "postproc/live/http_server.h"

#include <algorithm>
#include <utility>

#include "postproc/live/http_connection.h"

namespace jtrace::live {

namespace asio = boost::asio;
using asio::ip::tcp;

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Listen(asio::io_context& context,
                                                               uint16_t port, std::string token,
                                                               Content content) {
  Listener listener(context);
  const tcp::endpoint here(asio::ip::address_v4::loopback(), port);
  absl::Status status = listener.Open(here, kMostConnections, "; choose another one with --port=");
  if (!status.ok()) return status;
  Access access(std::move(token), listener.port());
  std::unique_ptr<HttpServer> server(
      new HttpServer(std::move(listener), std::move(access), std::move(content)));
  server->listener_.Start([it = server.get()](tcp::socket socket) { it->Add(std::move(socket)); });
  return server;
}

HttpServer::HttpServer(Listener listener, Access access, Content content)
    : listener_(std::move(listener)), access_(std::move(access)), content_(std::move(content)) {}

HttpServer::~HttpServer() = default;

void HttpServer::Add(tcp::socket socket) {
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
