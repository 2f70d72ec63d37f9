// Accepts connections at an address, on the thread of a context.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "absl/status/status.h"

namespace jtrace::live {

class Listener {
 public:
  using Accepted = std::function<void(boost::asio::ip::tcp::socket)>;

  explicit Listener(boost::asio::io_context& context) : acceptor_(context), retry_(context) {}

  // `most`: connections that wait to be accepted. Unavailable, one line that ends with `remedy`, if
  // the port is in use. Child processes do not get the sockets.
  absl::Status Open(const boost::asio::ip::tcp::endpoint& here, size_t most,
                    std::string_view remedy);
  // From now on, each connection. Once, and it is not moved after that; lives as long as the
  // context runs.
  void Start(Accepted accepted);

  uint16_t port() const;

 private:
  void Accept();

  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::steady_timer retry_;
  Accepted accepted_;
};

}  // namespace jtrace::live
