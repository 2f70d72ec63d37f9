// Serves the live page on 127.0.0.1, on the thread of its context.
//
// A stranger on this machine can connect. So there are bounds: at most kMostConnections, of which
// the oldest without a token leaves for a new one; a request of at most 8 kB of headers and 4 kB of
// content, of which nothing is read; five seconds for it to arrive and thirty for the answer to
// leave; one request a connection.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "postproc/live/access.h"
#include "postproc/live/listener.h"
#include "postproc/live/live_page.h"

namespace jtrace::live {

class HttpConnection;

class HttpServer {
 public:
  static constexpr size_t kMostConnections = 32;

  using Answer = std::function<void(std::string json)>;
  // What is served. `data` may call its answer later, or never.
  struct Content {
    LivePage page;
    std::function<void(uint64_t after, Answer answer)> data;
    std::function<std::string()> data_now;  // without waiting, for HEAD
  };

  // `port`: 0 for any that is free. Unavailable, one line, if it is in use.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Listen(boost::asio::io_context& context,
                                                            uint16_t port, std::string token,
                                                            Content content);
  ~HttpServer();

  const Access& access() const { return access_; }
  const Content& content() const { return content_; }

 private:
  HttpServer(Listener listener, Access access, Content content);
  void Add(boost::asio::ip::tcp::socket socket);
  // Makes room for one more connection.
  void MakeRoom();

  Listener listener_;
  Access access_;
  Content content_;
  std::list<std::weak_ptr<HttpConnection>> connections_;  // the oldest first
};

}  // namespace jtrace::live
