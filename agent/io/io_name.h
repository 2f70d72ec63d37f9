// What a descriptor is connected to, for people: "/tmp/a.txt", "127.0.0.1:80", "[::1]:80",
// "unix:/run/x", "pipe:[123]". Any thread; some system calls.
#pragma once

#include <string>

namespace jtrace::io {

// Empty: not open.
std::string NameOfDescriptor(int fd);

}  // namespace jtrace::io
