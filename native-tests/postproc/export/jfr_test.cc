// Recordings of Flight Recorder: the encoding, names, the head of the file, and rejected traces.
// JfrExportTest has the JDK's own readers read whole recordings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "native-tests/postproc/export/export_test_support.h"
#include "postproc/export/jfr/bytes.h"
#include "postproc/export/jfr/constants.h"

namespace jtrace {
namespace {

using postproc::jfr::AppendEvent;
using postproc::jfr::AppendNumber;
using postproc::jfr::AppendText;
using postproc::jfr::DescriptorOf;
using testing::Export;
using ::testing::HasSubstr;
using testing::RunPost;
using testing::RunResult;

std::string Number(uint64_t value) {
  std::string out;
  AppendNumber(out, value);
  return out;
}

std::string Text(std::string_view text) {
  std::string out;
  AppendText(out, text);
  return out;
}

// The known answers are those of the format's description: the ninth byte has eight bits.
TEST(JfrTest, NumbersHaveSevenBitsAByte) {
  EXPECT_EQ(Number(0), std::string("\0", 1));
  EXPECT_EQ(Number(0x7f), "\x7f");
  EXPECT_EQ(Number(0x80), std::string("\x80\x01", 2));
  EXPECT_EQ(Number(300), "\xac\x02");
  EXPECT_EQ(Number((uint64_t{1} << 56) - 1), "\xff\xff\xff\xff\xff\xff\xff\x7f");
  EXPECT_EQ(Number(uint64_t{1} << 56), "\x80\x80\x80\x80\x80\x80\x80\x80\x01");
  EXPECT_EQ(Number(~uint64_t{0}), "\xff\xff\xff\xff\xff\xff\xff\xff\xff");
}

TEST(JfrTest, TextsAreUtf8) {
  EXPECT_EQ(Text(""), "\x01");
  EXPECT_EQ(Text("ab"),
            "\x03\x02"
            "ab");
  EXPECT_EQ(Text("\xff"), "\x03\x03\xef\xbf\xbd");
}

TEST(JfrTest, SizesOfEventsIncludeThemselves) {
  for (const size_t fields : {0U, 1U, 126U, 127U, 128U, 16'381U, 16'382U, 16'383U, 16'384U}) {
    std::string event;
    AppendEvent(event, std::string(fields, 'x'));
    size_t size = 0;
    int shift = 0;
    size_t bytes = 0;
    for (; bytes < event.size(); shift += 7) {
      const auto byte = static_cast<unsigned char>(event[bytes++]);
      size |= size_t{byte & 0x7fU} << shift;
      if (byte < 0x80) break;
    }
    EXPECT_EQ(size, event.size()) << fields;
    EXPECT_EQ(bytes + fields, event.size());
  }
}

TEST(JfrTest, DescriptorsHaveTheParameters) {
  EXPECT_EQ(DescriptorOf(""), "()V");
  EXPECT_EQ(DescriptorOf("int,long[][],String,java.util.Map$Entry[]"),
            "(I[[JLString;[Ljava/util/Map$Entry;)V");
  EXPECT_EQ(DescriptorOf("boolean,byte,char,short,float,double"), "(ZBCSFD)V");
}

uint64_t BigEndian(std::string_view bytes, size_t at, size_t size) {
  uint64_t value = 0;
  for (size_t i = at; i < at + size; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

// Two traces whose clocks began at different times; the later one has the first sample.
TEST(JfrTest, TheHeadHasTheTimesOfAllTraces) {
  const std::string head = "# jtrace-text 1 unit=us\n#@\tsession\tunix_time_ns\t";
  const RunResult result =
      RunPost({"--report=jfr", "a", "b"},
              {{"a", head + "1000000\n9000\tmain\tsample\tJ:A.a()\n"},
               {"b", head + "2000000\n50\tmain\tsample\tJ:B.b()\n70\tmain\tsample\tJ:B.b()\n"}});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::string& file = result.out;
  ASSERT_GT(file.size(), 68U);
  EXPECT_EQ(file.substr(0, 4), std::string("FLR\0", 4));
  EXPECT_EQ(BigEndian(file, 4, 4), 0x20001U);
  EXPECT_EQ(BigEndian(file, 8, 8), file.size());
  EXPECT_GT(BigEndian(file, 16, 8), 68U);                      // constants
  EXPECT_GT(BigEndian(file, 24, 8), BigEndian(file, 16, 8));   // types
  EXPECT_EQ(BigEndian(file, 32, 8), 2'050'000U);               // begin
  EXPECT_EQ(BigEndian(file, 40, 8), 10'000'000U - 2'050'000);  // duration
  EXPECT_EQ(BigEndian(file, 48, 8), 2'050'000U);
  EXPECT_EQ(BigEndian(file, 56, 8), 1'000'000'000U);
  EXPECT_EQ(BigEndian(file, 64, 4), 1U);
}

TEST(JfrTest, SelectsRoots) {
  const std::string trace =
      "# jtrace-text 1 unit=ns\n1\tm\tsample\tJ:A.a()\tJ:B.b()\n2\tm\tsample\tJ:A.a()\n";
  EXPECT_LT(Export(trace, "jfr", {"--root=B.b"}).size(), Export(trace, "jfr").size());
  const RunResult none = RunPost({"--report=jfr", "--root=Z", "t"}, {{"t", trace}});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, HasSubstr("--root: no sample of routine 'Z' in the trace"));
}

TEST(JfrTest, RejectsWhatItCannotShow) {
  const std::string head = "# jtrace-text 1 unit=";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"ns\n5\tmain\tenter\tA\n6\tmain\texit\tA\n", "jfr: the trace has no samples"},
      {"ns\n5\tmain\tunwind\tA\n", "jfr: the trace has no samples"},
      {"ticks\n5\tmain\tsample\tA\n", "jfr: the trace's times have no unit"},
      {"ns\n5\tmain\tsample*200000001\tA\n", "jfr: more than 200000000 samples"},
      {"ns\n5\tmain\tsample*200000000\tA\n6\tmain\tsample\tA\n", "jfr: more than 200000000"}};
  for (const auto& [trace, why] : cases) {
    const RunResult result = RunPost({"--report=jfr", "t"}, {{"t", head + trace}});
    EXPECT_EQ(result.exit_code, 2) << trace;
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr(why));
  }
  for (const char* option : {"--top=3", "--filter=1", "--metric=calls"}) {
    const RunResult result =
        RunPost({"--report=jfr", option, "t"}, {{"t", head + "ns\n5\tmain\tsample\tA\n"}});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err, HasSubstr("--report=jfr has every record"));
  }
}

}  // namespace
}  // namespace jtrace
