// Says when another process, which is not a child, ends.
#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>

namespace jtrace::live {

// On the thread of the context. By a descriptor of the process, which does not follow its number to
// another one; on kernels before 5.3 by looking at the number each second.
class ProcessEnd {
 public:
  ProcessEnd(boost::asio::io_context& context, pid_t pid, std::function<void()> ended);

 private:
  void Look();

  pid_t pid_;
  std::function<void()> ended_;
  boost::asio::posix::stream_descriptor descriptor_;
  boost::asio::steady_timer timer_;
};

}  // namespace jtrace::live
