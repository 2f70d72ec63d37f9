#include "agent/io/io_name.h"

#include <arpa/inet.h>
#include <limits.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace jtrace::io {
namespace {

std::string InetName(const void* address, int family, in_port_t port) {
  std::array<char, INET6_ADDRSTRLEN> text = {};
  inet_ntop(family, address, text.data(), text.size());
  const bool is_wide = family == AF_INET6;
  return absl::StrCat(is_wide ? "[" : "", text.data(), is_wide ? "]:" : ":", ntohs(port));
}

// The JDK's sockets are of IPv6, their peers mostly of IPv4.
std::string NameOf(const sockaddr_in6& peer) {
  if (!IN6_IS_ADDR_V4MAPPED(&peer.sin6_addr)) {
    return InetName(&peer.sin6_addr, AF_INET6, peer.sin6_port);
  }
  return InetName(&peer.sin6_addr.s6_addr[12], AF_INET, peer.sin6_port);
}

// Empty: it has no peer.
std::string PeerName(int fd) {
  sockaddr_storage peer = {};
  socklen_t size = sizeof(peer);
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0) return "";
  switch (peer.ss_family) {
    case AF_INET: {
      const auto& inet = reinterpret_cast<const sockaddr_in&>(peer);
      return InetName(&inet.sin_addr, AF_INET, inet.sin_port);
    }
    case AF_INET6:
      return NameOf(reinterpret_cast<const sockaddr_in6&>(peer));
    case AF_UNIX: {
      const size_t length = size - offsetof(sockaddr_un, sun_path);
      const auto& path = reinterpret_cast<const sockaddr_un&>(peer).sun_path;
      return absl::StrCat("unix:", length == 0 ? "" : std::string(path, strnlen(path, length)));
    }
    default:
      return "";
  }
}

}  // namespace

std::string NameOfDescriptor(int fd) {
  if (fd < 0) return "";
  std::array<char, PATH_MAX> path;
  const ssize_t length =
      readlink(absl::StrCat("/proc/self/fd/", fd).c_str(), path.data(), path.size());
  if (length <= 0) return "";
  std::string name(path.data(), static_cast<size_t>(length));
  if (!absl::StartsWith(name, "socket:")) return name;
  const std::string peer = PeerName(fd);
  return peer.empty() ? name : peer;
}

}  // namespace jtrace::io
