#include "postproc/support/out_of_memory.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstddef>
#include <mutex>
#include <new>

namespace jtrace::postproc {
namespace {

// Of the process, like its handler; when they are needed, no memory for them is available. Written
// while no other thread of ours allocates, or under the mutex.
std::mutex mutex;
char text[512];
size_t text_size = 0;
int code = 2;
char part[PATH_MAX];

void End() {
  static std::atomic<bool> ending{false};
  // Another thread has written it, and ends this one.
  while (ending.exchange(true)) pause();
  if (part[0] != '\0') unlink(part);
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text, text_size);
  _exit(code);
}

}  // namespace

void EndWhenOutOfMemory(std::string_view message, int exit_code) {
  const std::lock_guard lock(mutex);
  text_size = std::min(message.size(), sizeof text - 12);
  std::copy_n(message.data(), text_size, text);
  text[text_size++] = '\n';
  code = exit_code;
  std::set_new_handler(End);
}

void RemoveWhenOutOfMemory(const std::string& path) {
  const std::lock_guard lock(mutex);
  const size_t size = path.size() < sizeof part ? path.size() : 0;
  part[size] = '\0';
  std::copy_n(path.data(), size, part);
}

}  // namespace jtrace::postproc
