#include "common/dwarf_cursor.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace jtrace {
namespace {

using std::string_view_literals::operator""sv;

constexpr uint64_t kAddress = 0x4000;

DwarfCursor Over(std::string_view bytes) { return DwarfCursor(bytes, kAddress); }

// The examples of DWARF 5, tables 7.7 and 7.8.
TEST(DwarfCursorTest, Leb128HasTheValuesOfTheStandardsExamples) {
  EXPECT_EQ(Over("\x02"sv).Uleb(), 2u);
  EXPECT_EQ(Over("\x7f"sv).Uleb(), 127u);
  EXPECT_EQ(Over("\x80\x01"sv).Uleb(), 128u);
  EXPECT_EQ(Over("\xb9\x64"sv).Uleb(), 12857u);
  EXPECT_EQ(Over("\x7e"sv).Sleb(), -2);
  EXPECT_EQ(Over("\xff\x00"sv).Sleb(), 127);
  EXPECT_EQ(Over("\x81\x7f"sv).Sleb(), -127);
  EXPECT_EQ(Over("\x80\x7f"sv).Sleb(), -128);
  EXPECT_EQ(Over("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f"sv).Sleb(), INT64_MIN);
}

TEST(DwarfCursorTest, Leb128OfMoreThanTenBytesFails) {
  const std::string eleven(11, '\x80');
  DwarfCursor in = Over(eleven);
  EXPECT_EQ(in.Uleb(), 0u);
  EXPECT_FALSE(in.ok());
}

TEST(DwarfCursorTest, PointersAreAbsoluteOrRelativeToTheirOwnAddress) {
  EXPECT_EQ(Over("\x10\x20\x00\x00"sv).Pointer(0x03), 0x2010u);
  EXPECT_EQ(Over("\xfc\xff\xff\xff"sv).Pointer(0x1b), kAddress - 4);
  DwarfCursor in = Over("\x00\x00\x08\x00"sv);
  in.Skip(2);
  EXPECT_EQ(in.Pointer(0x12), kAddress + 2 + 8);
  EXPECT_EQ(Over("\xff\xff"sv).Value(0x1a), UINT64_MAX);
  EXPECT_EQ(Over(""sv).Pointer(0xff), 0u);
}

TEST(DwarfCursorTest, UnknownPointerEncodingsFail) {
  for (const int encoding : {0x05, 0x0e, 0x20, 0x3b, 0x50, 0x9b}) {
    DwarfCursor in = Over("12345678"sv);
    in.Pointer(static_cast<uint8_t>(encoding));
    EXPECT_FALSE(in.ok()) << encoding;
  }
}

TEST(DwarfCursorTest, TextEndsWithAZero) {
  DwarfCursor in = Over("zR\0\x01"sv);
  EXPECT_EQ(in.Text(), "zR");
  EXPECT_EQ(in.Byte(), 1);
  EXPECT_TRUE(in.ok() && in.AtEnd());
  EXPECT_EQ(Over("endless"sv).Text(), "");
  DwarfCursor without = Over("endless"sv);
  without.Text();
  EXPECT_FALSE(without.ok());
}

TEST(DwarfCursorTest, BlocksAreBoundedAndSkipped) {
  DwarfCursor in = Over("abcd"sv);
  in.Byte();
  DwarfCursor block = in.Block(2);
  EXPECT_EQ(block.address(), kAddress + 1);
  EXPECT_EQ(block.Fixed<uint16_t>(), 0x6362);
  EXPECT_TRUE(block.AtEnd());
  EXPECT_EQ(block.Byte(), 0);
  EXPECT_FALSE(block.ok());
  EXPECT_EQ(in.Byte(), 'd');
  EXPECT_TRUE(in.ok());
}

TEST(DwarfCursorTest, AnEndBeforeTheBeginIsNoBytes) {
  const std::byte bytes[4] = {};
  DwarfCursor in(bytes + 2, bytes);
  EXPECT_FALSE(in.ok());
  EXPECT_TRUE(in.AtEnd());
  EXPECT_EQ(in.Byte(), 0);
  EXPECT_EQ(in.position(), bytes + 2);
}

TEST(DwarfCursorTest, NothingIsReadPastTheEndEverAgain) {
  DwarfCursor in = Over("ab"sv);
  EXPECT_EQ(in.Fixed<uint32_t>(), 0u);
  EXPECT_FALSE(in.ok());
  EXPECT_EQ(in.Byte(), 0);
  EXPECT_FALSE(in.Block(0).ok());
  in = Over("ab"sv);
  EXPECT_FALSE(in.Block(~uint64_t{0}).ok());
  EXPECT_TRUE(in.AtEnd());
  in = Over("ab"sv);
  in.Skip(3);
  EXPECT_FALSE(in.ok());
}

}  // namespace
}  // namespace jtrace
