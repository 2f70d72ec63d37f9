#include "postproc/ship/gzip_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include "postproc/export/gzip_stream.h"
#include "postproc/support/strings.h"

namespace jtrace::ship {

absl::Status GzipFile(const std::string& from, const std::string& to) {
  std::ifstream in(from, std::ios::binary);
  // Traces are of their user alone, so is this.
  const int fd = open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return absl::UnavailableError(postproc::StrCat("cannot write ", to));
  close(fd);
  std::ofstream out(to, std::ios::binary | std::ios::trunc);
  postproc::GzipStream gzip(out);
  std::array<char, 65536> buffer;
  while (in.read(buffer.data(), buffer.size()) || in.gcount() > 0) {
    gzip.Write({buffer.data(), static_cast<size_t>(in.gcount())});
  }
  gzip.Finish();
  out.close();
  if (in.eof() && out) return absl::OkStatus();
  return absl::UnavailableError(postproc::StrCat("cannot write ", to));
}

}  // namespace jtrace::ship
