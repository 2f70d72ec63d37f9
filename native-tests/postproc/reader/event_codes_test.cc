#include "postproc/reader/event_codes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "proto/trace_format.h"

namespace jtrace::postproc {
namespace {

// The cells of FORMAT.md's table of codes, row by row.
std::vector<std::vector<std::string>> DocumentedCodes() {
  std::ifstream file(JTRACE_SOURCE_DIR "/proto/FORMAT.md");
  std::vector<std::vector<std::string>> rows;
  bool in_table = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("| major | minor |")) in_table = true;
    if (line.empty()) in_table = false;
    if (!in_table || !line.starts_with("| 0x")) continue;
    std::vector<std::string> cells;
    std::istringstream fields(line.substr(1));
    for (std::string cell; std::getline(fields, cell, '|');) cells.push_back(cell);
    rows.push_back(cells);
  }
  return rows;
}

std::vector<std::string> WordsInBackticks(const std::string& cell) {
  std::vector<std::string> words;
  for (size_t at = cell.find('`'); at != std::string::npos; at = cell.find('`', at)) {
    const size_t end = cell.find('`', at + 1);
    words.push_back(cell.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return words;
}

std::string Hex(uint32_t number) {
  std::ostringstream text;
  text << std::hex << std::uppercase << number;
  return "0x" + text.str();
}

bool Contains(const std::string& text, const std::string& part) {
  const auto lower = [](std::string it) {
    std::transform(it.begin(), it.end(), it.begin(), [](unsigned char c) { return tolower(c); });
    return it;
  };
  return lower(text).find(lower(part)) != std::string::npos;
}

TEST(EventCodesTest, FormatPageListsTheSameCodes) {
  const auto rows = DocumentedCodes();
  ASSERT_GE(rows.size(), 15u);
  for (const EventCode& code : AllEventCodes()) {
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const auto& cells) {
      return Contains(cells[0] + " ", Hex(code.major) + " ") ||
             Contains(cells[0] + ",", Hex(code.major) + ",");
    });
    ASSERT_NE(row, rows.end()) << Hex(code.major);
    const std::vector<std::string> ops = WordsInBackticks((*row)[3]);
    EXPECT_THAT(ops, ::testing::Contains(code.begin)) << Hex(code.major);
    if (!code.end.empty()) {
      EXPECT_THAT(ops, ::testing::Contains(code.end)) << Hex(code.major);
    }
    const bool has_minor = code.minor != format::kAnyMinor && code.minor != format::kUnwindMinor;
    if (has_minor) {
      EXPECT_TRUE(Contains((*row)[1], Hex(code.minor))) << code.begin;
    }
  }
}

TEST(EventCodesTest, ThePagesOpsAreAllKnown) {
  // Written by samples with a tree path.
  const std::set<std::string> variants = {"sample-at", "unwind-at"};
  for (const auto& cells : DocumentedCodes()) {
    for (const std::string& op : WordsInBackticks(cells[3])) {
      EXPECT_TRUE(variants.contains(op) || FindEventCodeByOp(op) != nullptr) << op;
    }
  }
}

TEST(EventCodesTest, EndsBelongToTheirBegins) {
  EXPECT_EQ(NoticeOp(format::kGc, format::kGcCycle), "gc-begin");
  EXPECT_EQ(NoticeOp(format::kGc, format::kEnd | format::kGcCycle), "gc-end");
  EXPECT_EQ(NoticeOp(format::kInterrupt, 5), "interrupt-begin");
  EXPECT_EQ(NoticeOp(format::kGc, 99), "");
  EXPECT_EQ(NoticeOp(0x7777, 1), "");
  // These have a separate form.
  EXPECT_EQ(NoticeOp(format::kJitted, format::kCall), "");
}

}  // namespace
}  // namespace jtrace::postproc
