#include "postproc/ship/metrics_server.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

#include "postproc/live/listener.h"
#include "postproc/support/strings.h"

namespace jtrace::ship {

namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using postproc::StrCat;

constexpr std::chrono::seconds kPatience{5};
constexpr uint32_t kMostHeaders = 8192;

absl::StatusOr<tcp::endpoint> EndpointOf(std::string_view place) {
  const size_t colon = place.rfind(':');
  const std::string_view digits = colon == std::string_view::npos ? "" : place.substr(colon + 1);
  std::string_view address = place.substr(0, std::min(colon, place.size()));
  if (address.starts_with('[') && address.ends_with(']')) {
    address = address.substr(1, address.size() - 2);
  }
  int64_t port = 0;
  error_code error;
  const auto ip = asio::ip::make_address(std::string(address), error);
  constexpr int64_t kMostPort = 65535;
  if (error || !postproc::ParseInteger(digits, port) || port < 0 || port > kMostPort) {
    return absl::InvalidArgumentError(
        StrCat("--metrics: '", place, "' is not ADDRESS:PORT, such as 127.0.0.1:9477"));
  }
  return tcp::endpoint(ip, static_cast<uint16_t>(port));
}

}  // namespace

// The text that is served, and how many are being served.
struct MetricsServer::Shared {
  std::mutex mutex;
  std::string text;
  size_t connections = 0;
};

// One request and its answer.
class MetricsServer::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, Shared& shared) : stream_(std::move(socket)), shared_(shared) {
    ++shared_.connections;
  }
  ~Connection() { --shared_.connections; }

  void Start() {
    parser_.header_limit(kMostHeaders);
    stream_.expires_after(kPatience);
    http::async_read_header(stream_, buffer_, parser_,
                            [self = shared_from_this()](error_code error, size_t) {
                              if (!error) self->Answer();
                            });
  }

 private:
  void Answer() {
    const auto& request = parser_.get();
    const bool is_known = request.method() == http::verb::get && request.target() == "/metrics";
    const auto status = is_known ? http::status::ok : http::status::not_found;
    response_ = http::response<http::string_body>(status, 11);
    response_.set(http::field::content_type, "text/plain; version=0.0.4; charset=utf-8");
    response_.keep_alive(false);
    {
      const std::lock_guard lock(shared_.mutex);
      response_.body() = is_known ? shared_.text : "Only GET /metrics is answered here.\n";
    }
    response_.prepare_payload();
    stream_.expires_after(kPatience);
    http::async_write(stream_, response_, [self = shared_from_this()](error_code, size_t) {
      error_code ignored;
      self->stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
    });
  }

  boost::beast::tcp_stream stream_;
  Shared& shared_;
  boost::beast::flat_buffer buffer_;
  http::request_parser<http::empty_body> parser_;
  http::response<http::string_body> response_;
};

struct MetricsServer::Server {
  Shared shared;  // outlives the connections, which the context has
  asio::io_context context{1};
  live::Listener listener{context};
  std::thread thread;

  void Add(tcp::socket socket) {
    if (shared.connections >= kMostConnections) return;
    std::make_shared<Connection>(std::move(socket), shared)->Start();
  }
};

absl::Status CheckPlace(std::string_view place) { return EndpointOf(place).status(); }

absl::StatusOr<std::unique_ptr<MetricsServer>> MetricsServer::Listen(std::string_view place) {
  const absl::StatusOr<tcp::endpoint> here = EndpointOf(place);
  if (!here.ok()) return here.status();
  auto server = std::make_unique<Server>();
  absl::Status status =
      server->listener.Open(*here, kMostConnections, "; choose another one with --metrics=");
  if (!status.ok()) return status;
  server->listener.Start([it = server.get()](tcp::socket socket) { it->Add(std::move(socket)); });
  server->thread = std::thread([context = &server->context] { context->run(); });
  return std::unique_ptr<MetricsServer>(new MetricsServer(std::move(server)));
}

MetricsServer::MetricsServer(std::unique_ptr<Server> server) : server_(std::move(server)) {}

MetricsServer::~MetricsServer() {
  server_->context.stop();
  server_->thread.join();
}

int MetricsServer::port() const { return server_->listener.port(); }

void MetricsServer::Set(std::string text) {
  const std::lock_guard lock(server_->shared.mutex);
  server_->shared.text = std::move(text);
}

}  // namespace jtrace::ship
