// The terminal that a stream is, if it is one.
#pragma once

namespace jtrace::postproc {

// Its width in columns; 0 if `fd` is not a terminal, or does not say.
int TerminalColumns(int fd);

}  // namespace jtrace::postproc
