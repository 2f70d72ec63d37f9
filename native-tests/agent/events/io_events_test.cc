// Names of descriptors: files, pipes, and peers of sockets.
#include "agent/events/io_events.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <string>

namespace jtrace::events {
namespace {

using ::testing::StartsWith;

// A descriptor that is closed at the end.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) { EXPECT_GE(fd, 0) << std::strerror(errno); }
  ~Descriptor() { close(fd_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  const int fd_;
};

// The name of a socket of `family` that is connected to a listener on `address`.
std::string NameOfClient(const sockaddr* address, socklen_t size, int family) {
  const Descriptor server(socket(family, SOCK_STREAM, 0));
  const Descriptor client(socket(family, SOCK_STREAM, 0));
  EXPECT_EQ(bind(server.get(), address, size), 0) << std::strerror(errno);
  EXPECT_EQ(listen(server.get(), 1), 0);
  sockaddr_storage bound = {};
  socklen_t length = sizeof(bound);
  EXPECT_EQ(getsockname(server.get(), reinterpret_cast<sockaddr*>(&bound), &length), 0);
  EXPECT_EQ(connect(client.get(), reinterpret_cast<sockaddr*>(&bound), length), 0);
  const std::string name = NameOfDescriptor(client.get());
  const in_port_t port = family == AF_INET ? reinterpret_cast<sockaddr_in&>(bound).sin_port
                                           : reinterpret_cast<sockaddr_in6&>(bound).sin6_port;
  const std::string suffix = ":" + std::to_string(ntohs(port));
  return name.ends_with(suffix) ? name.substr(0, name.size() - suffix.size()) : name;
}

TEST(IoNameTest, FilesHaveTheirPath) {
  const auto path = std::filesystem::path(::testing::TempDir()) / "io name";
  const Descriptor file(open(path.c_str(), O_RDWR | O_CREAT, 0600));
  EXPECT_EQ(NameOfDescriptor(file.get()), std::filesystem::canonical(path));
  std::filesystem::remove(path);
  EXPECT_EQ(NameOfDescriptor(file.get()), path.string() + " (deleted)");
}

TEST(IoNameTest, PipesHaveTheKernelsName) {
  std::array<int, 2> ends = {};
  ASSERT_EQ(pipe(ends.data()), 0);
  const Descriptor read(ends[0]);
  const Descriptor write(ends[1]);
  EXPECT_THAT(NameOfDescriptor(read.get()), StartsWith("pipe:["));
  EXPECT_EQ(NameOfDescriptor(read.get()), NameOfDescriptor(write.get()));
}

TEST(IoNameTest, NoDescriptorHasNoName) {
  EXPECT_EQ(NameOfDescriptor(-1), "");
  EXPECT_EQ(NameOfDescriptor(1'000'000'000), "");
}

TEST(IoNameTest, SocketsHaveTheirPeer) {
  sockaddr_in inet = {};
  inet.sin_family = AF_INET;
  inet.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(NameOfClient(reinterpret_cast<sockaddr*>(&inet), sizeof(inet), AF_INET), "127.0.0.1");
  const Descriptor alone(socket(AF_INET, SOCK_STREAM, 0));
  EXPECT_THAT(NameOfDescriptor(alone.get()), StartsWith("socket:["));
}

// As a JVM's sockets are.
TEST(IoNameTest, PeersOfIpv4OnSocketsOfIpv6) {
  sockaddr_in6 mapped = {};
  mapped.sin6_family = AF_INET6;
  ASSERT_EQ(inet_pton(AF_INET6, "::ffff:127.0.0.1", &mapped.sin6_addr), 1);
  const int probe = socket(AF_INET6, SOCK_STREAM, 0);
  if (probe < 0) GTEST_SKIP() << "no IPv6";
  close(probe);
  EXPECT_EQ(NameOfClient(reinterpret_cast<sockaddr*>(&mapped), sizeof(mapped), AF_INET6),
            "127.0.0.1");
}

TEST(IoNameTest, UnixSocketsHaveTheirPath) {
  sockaddr_un path = {};
  path.sun_family = AF_UNIX;
  const std::string name = ::testing::TempDir() + "io.socket";
  ASSERT_LT(name.size(), sizeof(path.sun_path));
  name.copy(path.sun_path, name.size());
  unlink(name.c_str());
  EXPECT_EQ(NameOfClient(reinterpret_cast<sockaddr*>(&path), sizeof(path), AF_UNIX),
            "unix:" + name);
  unlink(name.c_str());
}

}  // namespace
}  // namespace jtrace::events
