// Metrics over HTTP.
#include "postproc/ship/metrics_server.h"

#include <gmock/gmock.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

namespace jtrace::ship {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Ask(int port, const std::string& request) {
  asio::io_context context;
  tcp::socket socket(context);
  socket.connect({asio::ip::address_v4::loopback(), static_cast<uint16_t>(port)});
  asio::write(socket, asio::buffer(request));
  std::string answer;
  boost::system::error_code end;
  asio::read(socket, asio::dynamic_buffer(answer), end);
  return answer;
}

TEST(MetricsServerTest, AnswersWithTheNewestText) {
  const auto server = MetricsServer::Listen("127.0.0.1:0");
  ASSERT_TRUE(server.ok()) << server.status();
  const std::string request = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";
  for (const char* text : {"a 1\n", "a 2\n"}) {
    (*server)->Set(text);
    const std::string answer = Ask((*server)->port(), request);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK"));
    EXPECT_THAT(answer, HasSubstr("text/plain; version=0.0.4"));
    EXPECT_THAT(answer, HasSubstr(text));
  }
}

TEST(MetricsServerTest, AnswersNothingElse) {
  const auto server = MetricsServer::Listen("127.0.0.1:0");
  ASSERT_TRUE(server.ok()) << server.status();
  (*server)->Set("a 1\n");
  for (const char* request : {"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
                              "POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"}) {
    EXPECT_THAT(Ask((*server)->port(), request), StartsWith("HTTP/1.1 404"));
  }
  EXPECT_EQ(Ask((*server)->port(), "nonsense\r\n\r\n"), "");
}

TEST(MetricsServerTest, APortInUseIsNamed) {
  const auto server = MetricsServer::Listen("127.0.0.1:0");
  ASSERT_TRUE(server.ok()) << server.status();
  const std::string place = "127.0.0.1:" + std::to_string((*server)->port());
  EXPECT_THAT(std::string(MetricsServer::Listen(place).status().message()),
              HasSubstr("choose another one with --metrics="));
  for (const char* wrong : {"", "9477", "localhost:1", "127.0.0.1:70000", "127.0.0.1:"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(CheckPlace(wrong))) << wrong;
  }
  EXPECT_TRUE(CheckPlace("[::1]:9477").ok());
}

}  // namespace
}  // namespace jtrace::ship
