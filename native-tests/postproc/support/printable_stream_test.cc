#include "postproc/support/printable_stream.h"

#include <gtest/gtest.h>

#include <random>
#include <sstream>
#include <string>

#include "common/visible_text.h"

namespace jtrace::postproc {
namespace {

// `text` through the buffer in parts of at most `most` bytes.
std::string Through(std::string_view text, size_t most, uint32_t seed) {
  std::minstd_rand random(seed);
  std::ostringstream target;
  PrintableBuffer buffer(target);
  std::ostream stream(&buffer);
  while (!text.empty()) {
    const std::string_view part = text.substr(0, 1 + random() % most);
    stream << part;
    text.remove_prefix(part.size());
  }
  stream.flush();
  return target.str();
}

TEST(PrintableStreamTest, EscapesIndependentlyOfThePartsWritten) {
  std::minstd_rand random(5);
  for (uint32_t i = 0; i < 3'000; ++i) {
    std::string text;
    for (unsigned n = random() % 20; n > 0; --n) {
      if (random() % 2 == 0) {
        AppendUtf8(text, random() % 0x2100);
      } else {
        text += static_cast<char>(random() >> 9);
      }
    }
    for (const size_t most : {1, 2, 5}) ASSERT_EQ(Through(text, most, i), VisibleLines(text));
  }
}

TEST(PrintableStreamTest, ShowsACharacterThatEndsEarly) {
  EXPECT_EQ(Through("a\xE2\x82", 9, 1), "a\\xe2\\x82");
}

}  // namespace
}  // namespace jtrace::postproc
