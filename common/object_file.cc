#include "common/object_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace jtrace {

ObjectFile::ObjectFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  struct stat info;
  if (fstat(fd, &info) == 0 && info.st_size > 0) {
    const auto size = static_cast<size_t>(info.st_size);
    void* const at = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (at != MAP_FAILED) content_ = {static_cast<const char*>(at), size};
  }
  close(fd);
}

ObjectFile::~ObjectFile() {
  if (content_.data() != nullptr) munmap(const_cast<char*>(content_.data()), content_.size());
}

}  // namespace jtrace
