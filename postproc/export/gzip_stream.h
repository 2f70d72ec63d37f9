// Compresses everything written through it.
#pragma once

#include <zlib.h>

#include <ostream>
#include <string>
#include <string_view>

namespace jtrace::postproc {

// A gzip member (RFC 1952) on `out`; a failed write shows on `out`.
class GzipStream {
 public:
  explicit GzipStream(std::ostream& out);
  ~GzipStream();
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;

  void Write(std::string_view bytes);
  // Call once, after the last byte.
  void Finish();

 private:
  void Deflate(std::string_view bytes, int flush);

  std::ostream& out_;
  std::string buffer_;
  z_stream stream_{};
};

}  // namespace jtrace::postproc
