#include "postproc/live/http_connection.h"

#include <boost/beast/core/error.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <chrono>
#include <utility>

namespace jtrace::live {
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

}  // namespace jtrace::live
