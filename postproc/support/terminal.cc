#include "postproc/support/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace jtrace::postproc {

int TerminalColumns(int fd) {
  winsize size = {};
  if (isatty(fd) == 0 || ioctl(fd, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

}  // namespace jtrace::postproc
