// One connection to the live page: a request, its answer, the end.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <memory>
#include <string>

#include "postproc/live/http_server.h"

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

}  // namespace jtrace::live
