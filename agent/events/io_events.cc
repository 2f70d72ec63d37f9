#include "agent/events/io_events.h"

#include <arpa/inet.h>
#include <limits.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/trace_format.h"

namespace jtrace::events {
namespace {

// By IoKind.
constexpr std::array<Code, kIoKinds> kCodes = {Code::kRead, Code::kWrite, Code::kConnect,
                                               Code::kAccept};

// Whether the call connects to a peer, whose name is then known at its end only.
bool HasPeer(const IoCall& call) {
  return call.kind == IoKind::kConnect || call.kind == IoKind::kAccept;
}

Code CodeOf(const IoCall& call) { return kCodes[static_cast<size_t>(call.kind)]; }

// The call that a thread is in. `thread`: its number in the trace; 0: the call has no record.
struct OpenCall {
  bool has_begun = false;
  uint32_t thread = 0;
};
thread_local OpenCall t_call;

std::string InetName(const void* address, int family, in_port_t port) {
  std::array<char, INET6_ADDRSTRLEN> text = {};
  inet_ntop(family, address, text.data(), text.size());
  const bool is_wide = family == AF_INET6;
  return absl::StrCat(is_wide ? "[" : "", text.data(), is_wide ? "]:" : ":", ntohs(port));
}

// The JDK opens IPv6 sockets: IPv4 peers have mapped addresses.
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

absl::Span<const Code> IoEvents::codes() const { return kCodes; }

void IoEvents::Start(const EventCodeSet&) {
  const absl::Status status = context_.io.Listen(IoListenerUse::kRecords, *this);
  if (status.ok()) return;
  context_.losses.Add("events.io", Severity::kWarning, 1,
                      absl::StrCat("kind of event that this JVM does not offer: reads and writes (",
                                   status.message(), ")"));
}

void IoEvents::Began(JNIEnv* jni, const IoCall& call) {
  OpenCall& open = t_call;
  open = {.has_begun = true};
  const uint64_t now = context_.clock.Since(call.begin_ns);
  jthread thread = nullptr;
  if (!context_.limits.Count(CodeOf(call), now) ||
      context_.io.env()->GetCurrentThread(&thread) != JVMTI_ERROR_NONE) {
    return;
  }
  open.thread = context_.NumberOf(jni, thread);
  jni->DeleteLocalRef(thread);
  const std::string name = HasPeer(call) ? "" : NameOfDescriptor(call.fd);
  context_.Add(CodeOf(call), {.time_ns = now, .thread = open.thread, .text = name});
}

void IoEvents::Ended(JNIEnv*, const IoCall& call) {
  const OpenCall open = std::exchange(t_call, OpenCall());
  // It may have begun before the recording, or in an earlier one.
  if (!open.has_begun || call.begin_ns < context_.clock.start()) return;
  context_.limits.Ended(CodeOf(call), call.end_ns - call.begin_ns);
  if (open.thread == 0) return;
  const std::string name = HasPeer(call) ? NameOfDescriptor(call.fd) : "";
  context_.Add(CodeOf(call), {.time_ns = context_.clock.Since(call.end_ns),
                              .thread = open.thread,
                              .minor = format::kEnd,
                              .value = call.bytes,
                              .text = name});
}

}  // namespace jtrace::events
