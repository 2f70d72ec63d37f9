// How the `jtrace` command talks to the agent inside a JVM.
//
// The agent listens on a Unix socket that only the JVM's user can reach. A connection carries one
// request and its answer:
//   request   one line, "VERB[ ARGUMENT]\n", at most kMaxRequest bytes
//   answer    lines that begin with a kind: '.' progress, '-' a note to show at once, '=' a line of
//             the answer, '!' why it failed, '?' the same as the number of an absl::StatusCode, if
//             the exit code does not say it; then the last line, "0\n", "1\n" or "2\n": the exit
//             code of the command. An answer without it was cut off.
// Both ends limit what they accept from the other, in bytes and in time.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>

namespace jtrace::control {

inline constexpr size_t kMaxRequest = size_t{64} * 1024;

// May begin with "DONE/ALL ", two numbers, for a bar.
inline constexpr char kProgressLine = '.';
inline constexpr char kNoteLine = '-';
inline constexpr char kAnswerLine = '=';
inline constexpr char kErrorLine = '!';
inline constexpr char kReasonLine = '?';

inline constexpr int kExitDone = 0;
inline constexpr int kExitUsage = 1;
inline constexpr int kExitFailed = 2;

// The folder of a user's sockets, mode 0700. Always in /tmp, like the JVM's own attach socket: in a
// container it is found through /proc/PID/root.
inline std::string SocketFolder(uid_t user) { return "/tmp/.jtrace-" + std::to_string(user); }

// `pid` as the JVM itself sees it.
inline std::string SocketPath(uid_t user, pid_t pid) {
  return SocketFolder(user) + "/" + std::to_string(pid);
}

}  // namespace jtrace::control
