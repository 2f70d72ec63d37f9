#include "postproc/export/gzip_stream.h"

#include <new>

namespace jtrace::postproc {
namespace {

constexpr size_t kDeflateBytes = 1 << 16;
constexpr int kGzip = 16;  // added to the window's bits: a gzip header and trailer
constexpr int kLevel = 3;  // twice as fast as the default, a tenth larger
constexpr int kMemoryLevel = 8;

}  // namespace

GzipStream::GzipStream(std::ostream& out) : out_(out), buffer_(kDeflateBytes, '\0') {
  // It can fail only because of memory.
  if (deflateInit2(&stream_, kLevel, Z_DEFLATED, MAX_WBITS + kGzip, kMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
}

GzipStream::~GzipStream() { deflateEnd(&stream_); }

void GzipStream::Write(std::string_view bytes) { Deflate(bytes, Z_NO_FLUSH); }

void GzipStream::Finish() { Deflate({}, Z_FINISH); }

void GzipStream::Deflate(std::string_view bytes, int flush) {
  stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream_.avail_in = static_cast<uInt>(bytes.size());
  do {
    stream_.next_out = reinterpret_cast<Bytef*>(buffer_.data());
    stream_.avail_out = static_cast<uInt>(buffer_.size());
    deflate(&stream_, flush);
    out_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size() - stream_.avail_out));
  } while (stream_.avail_out == 0);
}

}  // namespace jtrace::postproc
