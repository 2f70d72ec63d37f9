#include "postproc/support/progress_buffer.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace jtrace::postproc {
namespace {

// What the terminal shows after that many megabytes, and a flush.
std::string Shown(int megabytes) {
  std::ostringstream target;
  std::ostringstream terminal;
  ProgressBuffer buffer(target, terminal);
  std::ostream stream(&buffer);
  const std::string text(1'000'000, 'x');
  for (int i = 0; i < megabytes; ++i) stream << text;
  stream.flush();
  EXPECT_EQ(target.str().size(), text.size() * static_cast<size_t>(megabytes));
  return terminal.str();
}

TEST(ProgressBufferTest, CountsMegabytesAndErasesTheLine) {
  EXPECT_EQ(Shown(33), "\rwritten: 16 MB\rwritten: 32 MB\r\x1b[K");
}

TEST(ProgressBufferTest, GivesWayToOtherLines) {
  std::ostringstream target;
  std::ostringstream terminal;
  ProgressBuffer buffer(target, terminal);
  std::ostream stream(&buffer);
  stream << std::string(16'000'000, 'x');
  buffer.Clear();
  buffer.Clear();
  EXPECT_EQ(terminal.str(), "\rwritten: 16 MB\r\x1b[K");
  stream << std::string(16'000'000, 'x');
  stream.flush();
  EXPECT_EQ(terminal.str(), "\rwritten: 16 MB\r\x1b[K\rwritten: 32 MB\r\x1b[K");
}

TEST(ProgressBufferTest, ALittleIsNotWorthALine) { EXPECT_EQ(Shown(15), ""); }

}  // namespace
}  // namespace jtrace::postproc
