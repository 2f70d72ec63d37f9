// Makes zip archives, stored or deflated, for tests of their reader.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <vector>

namespace jtrace::testing {

class ZipBuilder {
 public:
  ZipBuilder& Stored(const std::string& name, const std::string& content) {
    return Add(name, content, content, 0);
  }

  ZipBuilder& Deflated(const std::string& name, const std::string& content) {
    z_stream stream{};
    deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
    std::string packed(deflateBound(&stream, content.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
    stream.avail_in = static_cast<uInt>(content.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    deflate(&stream, Z_FINISH);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    return Add(name, content, packed, 8);
  }

  // The size that the archive says the next file has.
  ZipBuilder& ClaimSize(uint32_t size) {
    claimed_ = size;
    return *this;
  }

  std::string Finish(const std::string& comment = "") const {
    std::string bytes = files_ + directory_;
    bytes += "PK\5\6" + Number(0, 4) + Number(entries_, 2) + Number(entries_, 2) +
             Number(directory_.size(), 4) + Number(files_.size(), 4) + Number(comment.size(), 2);
    return bytes + comment;
  }

  // With the records of zip64, as if there were too many files for the others.
  std::string Finish64() const {
    std::string bytes = files_ + directory_;
    const size_t end64 = bytes.size();
    bytes += "PK\6\6" + Number(44, 8) + Number(45, 2) + Number(45, 2) + Number(0, 8) +
             Number(entries_, 8) + Number(entries_, 8) + Number(directory_.size(), 8) +
             Number(files_.size(), 8);
    bytes += "PK\6\7" + Number(0, 4) + Number(end64, 8) + Number(1, 4);
    return bytes + "PK\5\6" + Number(0, 4) + Number(0xffff, 2) + Number(0xffff, 2) +
           Number(0xffffffff, 4) + Number(0xffffffff, 4) + Number(0, 2);
  }

 private:
  static std::string Number(uint64_t value, int bytes) {
    std::string text;
    for (; bytes > 0; --bytes, value >>= 8) text.push_back(static_cast<char>(value & 0xff));
    return text;
  }

  ZipBuilder& Add(const std::string& name, const std::string& content, const std::string& packed,
                  uint16_t method) {
    const uLong crc =
        crc32(0, reinterpret_cast<const Bytef*>(content.data()), static_cast<uInt>(content.size()));
    const uint64_t size = claimed_ != 0 ? claimed_ : content.size();
    claimed_ = 0;
    const std::string common = Number(20, 2) + Number(0, 2) + Number(method, 2) + Number(0, 4) +
                               Number(crc, 4) + Number(packed.size(), 4) + Number(size, 4) +
                               Number(name.size(), 2) + Number(0, 2);
    directory_ += "PK\1\2" + Number(20, 2) + common + Number(0, 2) + Number(0, 2) + Number(0, 2) +
                  Number(0, 4) + Number(files_.size(), 4) + name;
    files_ += "PK\3\4" + common + name + packed;
    ++entries_;
    return *this;
  }

  std::string files_;
  std::string directory_;
  uint64_t entries_ = 0;
  uint32_t claimed_ = 0;
};

}  // namespace jtrace::testing
