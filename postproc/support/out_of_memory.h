// If an allocation fails, the process ends with one line. Nothing is unwound, because hash tables
// of Abseil are inconsistent after one of their allocations has thrown.
#pragma once

#include <string>
#include <string_view>

namespace jtrace::postproc {

// From now on a failing operator new, in any thread, writes `message` and a line's end to standard
// error and ends the process with that code. May be called again. Messages are cut at 500 bytes.
void EndWhenOutOfMemory(std::string_view message, int exit_code);

// A file to remove then, such as an incomplete output; "" for none. One at a time.
void RemoveWhenOutOfMemory(const std::string& path);

}  // namespace jtrace::postproc
