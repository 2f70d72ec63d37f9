#include "postproc/live/http_server.h"

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace jtrace::live {
// Shared by the operations that wait for its socket.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  // `server` lives as long as the context runs.
  HttpConnection(boost::asio::ip::tcp::socket socket, const HttpServer& server)
      : stream_(std::move(socket)), server_(server) {}

  void Start();
  void Close();
  // It showed the token.
  bool is_trusted() const { return is_trusted_; }

 private:
  using Response = boost::beast::http::response<boost::beast::http::string_body>;

  void Handle();
  void SendData(const std::string& json);
  void SendPlain(boost::beast::http::status status, const char* text);
  void Send(boost::beast::http::status status, const char* type, std::string body,
            const std::string& policy);

  boost::beast::tcp_stream stream_;
  const HttpServer& server_;
  boost::beast::flat_buffer buffer_;
  boost::beast::http::request_parser<boost::beast::http::string_body> parser_;
  bool is_trusted_ = false;
};

namespace {

namespace http = boost::beast::http;
using boost::system::error_code;

constexpr uint32_t kMostHeaders = 8192;
constexpr uint64_t kMostContent = 4096;
constexpr std::chrono::seconds kToArrive{5};
constexpr std::chrono::seconds kToLeave{30};
constexpr size_t kSlowLink = 50'000;  // bytes a second, for those who have the token
constexpr char kPlain[] = "text/plain; charset=utf-8";

std::string_view View(boost::beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace

void HttpConnection::Start() {
  parser_.header_limit(kMostHeaders);
  parser_.body_limit(kMostContent);
  stream_.expires_after(kToArrive);
  const auto arrived = [self = shared_from_this()](error_code error, size_t) {
    if (!error) return self->Handle();
    if (error == boost::beast::error::timeout || error == http::error::end_of_stream ||
        error == boost::asio::error::operation_aborted) {
      return self->Close();
    }
    self->SendPlain(http::status::bad_request, "This is not a request that is answered here.\n");
  };
  http::async_read(stream_, buffer_, parser_, arrived);
}

void HttpConnection::Handle() {
  stream_.expires_never();
  const auto& request = parser_.get();
  Asked asked{View(request.method_string()), View(request.target()), "",
              View(request[http::field::authorization])};
  if (request.count(http::field::host) == 1) asked.host = View(request[http::field::host]);
  const Verdict verdict = server_.access().Judge(asked);
  switch (verdict) {
    case Verdict::kForbidden:
      return SendPlain(http::status::forbidden,
                       "Forbidden: open the address that jtrace web printed.\n");
    case Verdict::kMethodNotAllowed:
      return SendPlain(http::status::method_not_allowed,
                       "Only GET and HEAD: nothing changes here.\n");
    case Verdict::kPage:
      return Send(http::status::ok, "text/html; charset=utf-8", server_.content().page.html,
                  server_.content().page.policy);
    case Verdict::kData:
    case Verdict::kNotFound:
      break;
  }
  is_trusted_ = true;
  if (verdict == Verdict::kNotFound) return SendPlain(http::status::not_found, "Not found.\n");
  if (request.method() == http::verb::head) return SendData(server_.content().data_now());
  server_.content().data(
      AfterOf(asked.target),
      [self = shared_from_this()](const std::string& json) { self->SendData(json); });
}

void HttpConnection::SendData(const std::string& json) {
  Send(http::status::ok, "application/json", json, "default-src 'none'");
}

void HttpConnection::SendPlain(http::status status, const char* text) {
  Send(status, kPlain, text, "default-src 'none'");
}

void HttpConnection::Send(http::status status, const char* type, std::string body,
                          const std::string& policy) {
  auto response = std::make_shared<Response>(status, 11);
  response->set(http::field::content_type, type);
  response->set(http::field::cache_control, "no-store");
  response->set("Content-Security-Policy", policy);
  response->set("Referrer-Policy", "no-referrer");
  response->set("X-Content-Type-Options", "nosniff");
  response->set("Cross-Origin-Resource-Policy", "same-origin");
  response->set("Cross-Origin-Opener-Policy", "same-origin");
  if (status == http::status::method_not_allowed) response->set(http::field::allow, "GET, HEAD");
  response->keep_alive(false);
  response->content_length(body.size());
  if (parser_.get().method() != http::verb::head) response->body() = std::move(body);
  const std::chrono::seconds for_body(is_trusted_ ? response->body().size() / kSlowLink : 0);
  stream_.expires_after(kToLeave + for_body);
  http::async_write(stream_, *response,
                    [self = shared_from_this(), response](error_code, size_t) { self->Close(); });
}

void HttpConnection::Close() {
  error_code ignored;
  stream_.socket().shutdown(boost::asio::ip::tcp::socket::shutdown_both, ignored);
  stream_.close();
}

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
