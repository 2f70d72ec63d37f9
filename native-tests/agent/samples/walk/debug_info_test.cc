#include "agent/samples/walk/debug_info.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <limits>
#include <random>
#include <vector>

#include "agent/samples/signals.h"
#include "native-tests/agent/samples/walk/fake_nmethod.h"

namespace jtrace::samples {
namespace {

// HotSpot's encoder (compressedStream.cpp and, with bias 1, unsigned5.hpp), rewritten from its
// definition: at most five bytes, the last of five has all remaining bits.
void Encode(uint32_t value, uint32_t bias, std::vector<uint8_t>* out) {
  const uint32_t low_codes = 192 - bias;  // bytes that end a number
  for (int i = 0;; ++i) {
    if (value < low_codes || i == 4) {
      out->push_back(static_cast<uint8_t>(value + bias));
      return;
    }
    value -= low_codes;
    out->push_back(static_cast<uint8_t>(low_codes + bias + value % 64));
    value /= 64;
  }
}

class Unsigned5Test : public ::testing::TestWithParam<uint32_t> {};

TEST_P(Unsigned5Test, DecodesWhatHotSpotEncodes) {
  const uint32_t bias = GetParam();
  std::vector<uint32_t> values = {0, 1, 190, 191, 192, 193, 12'000, 12'479, 1u << 20, 0xffff'ffff};
  std::mt19937 random(2);
  for (int i = 0; i < 20'000; ++i) values.push_back(random() >> (random() % 32));
  std::vector<uint8_t> bytes;
  for (const uint32_t value : values) Encode(value, bias, &bytes);
  bytes.resize(bytes.size() + 8);  // the reader loads whole words
  GuardedBytes in(reinterpret_cast<uintptr_t>(bytes.data()));
  for (const uint32_t value : values) ASSERT_EQ(in.Unsigned5(bias), value);
  EXPECT_TRUE(in.ok());
}

INSTANTIATE_TEST_SUITE_P(BothEncodings, Unsigned5Test, ::testing::Values(0u, 1u));

TEST(GuardedBytesTest, StopsAtUnreadableMemory) {
  ASSERT_TRUE(InstallFaultHandler().ok());
  const long page = sysconf(_SC_PAGESIZE);
  auto* const pages = static_cast<uint8_t*>(
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_EQ(mprotect(pages + page, page, PROT_NONE), 0);
  pages[page - 1] = 200;  // says that more bytes follow
  GuardedBytes in(reinterpret_cast<uintptr_t>(pages + page - 1));
  in.Unsigned5(0);
  EXPECT_FALSE(in.ok());
  EXPECT_EQ(in.Next(), 0);
  munmap(pages, 2 * page);
}

// An nmethod with one inlined call.
class DebugInfoTest : public ::testing::Test {
 protected:
  void SetUp() override {
    testing::FakeNmethod::Describe(vm_);
    // Scope 1: method 1 at bci 7, not inlined. Scope 4: method 2 at bci 3, inlined into scope 1.
    nmethod_.PutScopes({0, 0, 1, 8, 1, 2, 4});
    nmethod_.AddPcDesc(10, 1);
    nmethod_.AddPcDesc(20, 4);
    nmethod_.AddPcDesc(30, 1);
  }
  std::vector<Frame> Scopes(uintptr_t offset, bool interrupted = true) {
    Frame storage[16];
    Chain chain(storage, 16);
    DebugInfo(vm_, nmethod_.blob()).PushScopes(kCode + offset, interrupted, 0, chain);
    return {storage, storage + chain.pushed()};
  }

  static constexpr uintptr_t kCode = testing::FakeNmethod::kCode;
  VmLayout vm_;
  testing::FakeNmethod nmethod_;
};

TEST_F(DebugInfoTest, ReturnAddressMatchesItsOwnPcDesc) {
  const auto frames = Scopes(20);
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].kind, FrameKind::kInlined);
  EXPECT_EQ(frames[0].value, 0x2000u);
  EXPECT_EQ(frames[0].bci, 3);
  EXPECT_EQ(frames[0].flags, kFrameRawMethod);
  EXPECT_EQ(frames[1].kind, FrameKind::kCompiled);
  EXPECT_EQ(frames[1].value, 0x1000u);
  EXPECT_EQ(frames[1].bci, 7);
}

TEST_F(DebugInfoTest, PcDescsStandAtTheEndOfTheirCode) {
  EXPECT_EQ(Scopes(19).size(), 2u);
  EXPECT_EQ(Scopes(20).size(), 2u);
  EXPECT_EQ(Scopes(21).size(), 1u);
  EXPECT_EQ(Scopes(10).size(), 1u);
  EXPECT_EQ(Scopes(11).size(), 2u);
}

TEST_F(DebugInfoTest, FindsNothingAfterTheLastPcDesc) {
  EXPECT_FALSE(Scopes(30).empty());
  EXPECT_TRUE(Scopes(31).empty());
}

TEST_F(DebugInfoTest, DescribesOnlyExactPcs) {
  const CodeBlob blob = nmethod_.blob();
  const DebugInfo info(vm_, blob);
  EXPECT_TRUE(info.Describes(kCode + 20));
  EXPECT_FALSE(info.Describes(kCode + 21));
  EXPECT_FALSE(info.Describes(kCode + 31));
}

// However they are distributed: close together, far apart, after the code.
TEST_F(DebugInfoTest, FindsEachPcDesc) {
  std::mt19937 random(4);
  std::vector<int32_t> pcs = {10, 20, 30};
  while (pcs.size() < 900) {
    pcs.push_back(pcs.back() + 1 + static_cast<int32_t>(random() >> random() % 31 & 0xfffff));
    nmethod_.AddPcDesc(pcs.back(), 1);
  }
  nmethod_.AddPcDesc(std::numeric_limits<int32_t>::max(), 0);  // HotSpot's last
  for (const uintptr_t size : {uintptr_t{100}, uintptr_t{10'000'000}, uintptr_t{1} << 30}) {
    const CodeBlob blob = nmethod_.blob(size);
    const DebugInfo info(vm_, blob);
    for (size_t i = 0; i < pcs.size(); ++i) {
      ASSERT_TRUE(info.Describes(kCode + static_cast<uintptr_t>(pcs[i])));
      const bool next = i + 1 < pcs.size() && pcs[i + 1] == pcs[i] + 1;
      ASSERT_EQ(info.Describes(kCode + static_cast<uintptr_t>(pcs[i]) + 1), next);
    }
  }
}

// Scopes that describe where values are, are those of safepoints.
TEST_F(DebugInfoTest, UnreliableCodeGetsTheMethodsOfItsNextSafepoint) {
  // Scope 8: method 1 at bci 9; 14: method 2 at bci 3, inlined there; only the former has values.
  nmethod_.PutScopes({0, 1, 10, 5, 0, 0, 8, 2, 4, 0, 0, 0}, 8);
  nmethod_.AddPcDesc(40, 14);
  nmethod_.AddPcDesc(50, 8);
  EXPECT_EQ(Scopes(35).size(), 2u);
  std::atomic<uintptr_t> slots[4] = {};
  const signal_safe::AddressTable table{3, slots};
  const std::atomic<const signal_safe::AddressTable*> published{&table};
  vm_.unreliable_code = &published;
  EXPECT_EQ(Scopes(35).size(), 2u);
  const uintptr_t key = CompilationKey(vm_, nmethod_.address());
  slots[signal_safe::AddressTable::Hash(key) & 3] = key;
  const auto frames = Scopes(35);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].bci, 9);
  EXPECT_EQ(Scopes(40, /*interrupted=*/false).size(), 2u);  // a return address is described right
}

}  // namespace
}  // namespace jtrace::samples
