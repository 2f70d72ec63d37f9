// Which trace was delivered to which target.
#include "postproc/ship/ledger.h"

#include <gtest/gtest.h>

#include "native-tests/postproc/ship/trace_folder.h"

namespace jtrace::ship {
namespace {

using testing::TraceFolder;

SealedTrace Trace(const std::string& name, uint64_t inode) {
  return {.name = name, .path = "/x/" + name, .inode = inode, .modified_ns = 5, .size = 7};
}

TEST(LedgerTest, OutlivesTheShipper) {
  const TraceFolder folder("ledger");
  ASSERT_TRUE(Ledger(folder.path()).NoteDelivered(Trace("a.bin", 1), "otlp-1").ok());
  Ledger next(folder.path());
  EXPECT_TRUE(next.IsDelivered(Trace("a.bin", 1), "otlp-1"));
  EXPECT_FALSE(next.IsDelivered(Trace("a.bin", 1), "parquet-1"));
  EXPECT_FALSE(next.IsDelivered(Trace("b.bin", 1), "otlp-1"));
}

TEST(LedgerTest, AnotherTraceOfThatNameIsNotDelivered) {
  const TraceFolder folder("ledger2");
  Ledger ledger(folder.path());
  ASSERT_TRUE(ledger.NoteDelivered(Trace("a.bin", 1), "otlp-1").ok());
  EXPECT_FALSE(ledger.IsDelivered(Trace("a.bin", 2), "otlp-1"));
  ASSERT_TRUE(ledger.NoteDelivered(Trace("a.bin", 2), "otlp-1").ok());
  EXPECT_TRUE(ledger.IsDelivered(Trace("a.bin", 2), "otlp-1"));
}

TEST(LedgerTest, ARefusalIsKeptWithItsReason) {
  const TraceFolder folder("ledger4");
  const std::string name(250, 'n');
  ASSERT_TRUE(Ledger(folder.path()).NoteRefused(Trace(name, 1), "otlp-1", "too large").ok());
  Ledger next(folder.path());
  EXPECT_EQ(next.Answer(Trace(name, 1), "otlp-1"), "too large");
  EXPECT_FALSE(next.IsDelivered(Trace(name, 1), "otlp-1"));
  EXPECT_EQ(next.Answer(Trace(name, 2), "otlp-1"), std::nullopt);
}

TEST(LedgerTest, ForgetsTracesThatLeft) {
  const TraceFolder folder("ledger3");
  Ledger ledger(folder.path());
  ASSERT_TRUE(ledger.NoteDelivered(Trace("a.bin", 1), "otlp-1").ok());
  ASSERT_TRUE(ledger.NoteDelivered(Trace("b.bin", 2), "otlp-1").ok());
  ledger.Forget(Trace("a.bin", 1));
  EXPECT_FALSE(ledger.IsDelivered(Trace("a.bin", 1), "otlp-1"));
  ledger.ForgetAllBut({Trace("c.bin", 3)});
  EXPECT_FALSE(Ledger(folder.path()).IsDelivered(Trace("b.bin", 2), "otlp-1"));
}

// A target that was down all the time has no folder of notes.
TEST(LedgerTest, ForgetsTargetsThatNeverAnswered) {
  const TraceFolder folder("ledger5");
  Ledger ledger(folder.path());
  for (const char* name : {"a.bin", "b.bin", "c.bin"}) {
    EXPECT_EQ(ledger.Answer(Trace(name, 1), "otlp-down"), std::nullopt);
  }
  EXPECT_EQ(ledger.size(), 3u);
  ledger.Forget(Trace("a.bin", 1));
  EXPECT_EQ(ledger.size(), 2u);
  ledger.ForgetAllBut({Trace("b.bin", 1)});
  EXPECT_EQ(ledger.size(), 1u);
}

}  // namespace
}  // namespace jtrace::ship
