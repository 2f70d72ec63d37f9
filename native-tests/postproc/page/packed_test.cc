#include <gtest/gtest.h>
#include <zlib.h>

#include <random>
#include <string>

#include "postproc/page/page_report.h"

namespace jtrace::postproc {
namespace {

std::string Gunzipped(const std::string& packed, size_t size) {
  std::string bytes(size + 1, '\0');
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  bytes.resize(stream.total_out);
  inflateEnd(&stream);
  return bytes;
}

// RFC 4648, section 10.
TEST(PackedTest, Base64FollowsTheStandard) {
  EXPECT_EQ(Base64(""), "");
  EXPECT_EQ(Base64("f"), "Zg==");
  EXPECT_EQ(Base64("fo"), "Zm8=");
  EXPECT_EQ(Base64("foo"), "Zm9v");
  EXPECT_EQ(Base64("foob"), "Zm9vYg==");
  EXPECT_EQ(Base64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(Base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(Base64("\xff\xfe\xfd"), "//79");
}

TEST(PackedTest, GzipRestoresItsInput) {
  std::mt19937 random(1);
  for (const size_t size : {0, 1, 1000, (1 << 18) - 1, 1 << 18, (1 << 18) + 1, 1 << 20}) {
    std::string bytes(size, 'a');
    for (char& byte : bytes) byte = static_cast<char>(random());
    EXPECT_EQ(Gunzipped(Gzipped(bytes), size), bytes) << size;
    const std::string dull(size, 'x');
    EXPECT_EQ(Gunzipped(Gzipped(dull), size), dull) << size;
  }
}

}  // namespace
}  // namespace jtrace::postproc
