// Which encoding of debug information a JVM has, by what it reports of its code.
#include "agent/sampling/debug_info_check.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace jtrace::sampling {
namespace {

// A made-up nmethod of one call, at bci 300 of method 1 (a number of two bytes), inlined in method
// 2 at bci 5; and the record that the JVM sends of it.
class DebugInfoCheckTest : public testing::Test {
 protected:
  void SetUp() override {
    vm_.nmethod.scopes_pcs_offset = 0;
    vm_.nmethod.dependencies_offset = 4;
    vm_.nmethod.scopes_data_begin = 8;
    vm_.nmethod.metadata_offset = 16;
    vm_.unsigned5_bias = 0;
    Set<int32_t>(0, kPcDescs);
    Set<int32_t>(4, kPcDescs + 16);
    Set<uint64_t>(8, Address() + kScopes);
    Set<int32_t>(16, kMetadata);
    Set<uint64_t>(kMetadata, kInlined);
    Set<uint64_t>(kMetadata + 8, kOuter);
    row_.pc = reinterpret_cast<void*>(kCode + 20);
    row_.numstackframes = 2;
    row_.methods = ids_;
    row_.bcis = bcis_;
    record_.numpcs = 1;
    record_.pcinfo = &row_;
  }

  // As HotSpot does: three numbers a scope, from one byte on as there has to be a scope 0.
  void Write(uint32_t bias) {
    std::vector<uint8_t> bytes = {0};
    const int32_t outer = Scope({0, 2, 5 + 1}, bias, &bytes);
    const int32_t inlined = Scope({static_cast<uint32_t>(outer), 1, 300 + 1}, bias, &bytes);
    std::memcpy(memory_ + kScopes, bytes.data(), bytes.size());
    const int32_t desc[] = {20, inlined, 0, 0};
    std::memcpy(memory_ + kPcDescs, desc, sizeof desc);
  }
  bool Look() {
    const hot::CodeBlob blob{Address(), kCode, kCode + 100, 4, hot::BlobKind::kNmethod};
    return check_.Look(record_, blob);
  }

  static constexpr uint64_t kInlined = 0x1000, kOuter = 0x2000;
  static constexpr int kMetadata = 32, kScopes = 64, kPcDescs = 128;
  static constexpr uintptr_t kCode = 0x10000;
  hot::VmLayout vm_;
  DebugInfoCheck check_{&vm_};
  jint bcis_[2] = {300, 5};

 private:
  template <typename T>
  void Set(int at, T value) {
    std::memcpy(memory_ + at, &value, sizeof value);
  }
  uintptr_t Address() const { return reinterpret_cast<uintptr_t>(memory_); }
  static int32_t Scope(std::vector<uint32_t> numbers, uint32_t bias, std::vector<uint8_t>* bytes) {
    const auto at = static_cast<int32_t>(bytes->size());
    const uint32_t low_codes = 192 - bias;  // bytes that end a number
    for (const uint32_t number : numbers) {
      if (number < low_codes) {
        bytes->push_back(static_cast<uint8_t>(number + bias));
      } else {
        const uint32_t rest = number - low_codes;
        bytes->push_back(static_cast<uint8_t>(192 + rest % 64));
        bytes->push_back(static_cast<uint8_t>(rest / 64 + bias));
      }
    }
    return at;
  }

  // A jmethodID is the address of the Method's.
  uint64_t methods_[2] = {kInlined, kOuter};
  jmethodID ids_[2] = {reinterpret_cast<jmethodID>(&methods_[0]),
                       reinterpret_cast<jmethodID>(&methods_[1])};
  PCStackInfo row_{};
  jvmtiCompiledMethodLoadInlineRecord record_{};
  alignas(8) uint8_t memory_[512] = {};
};

TEST_F(DebugInfoCheckTest, KeepsTheEncodingThatIsRight) {
  Write(0);
  EXPECT_FALSE(Look());
  EXPECT_EQ(vm_.unsigned5_bias, 0u);
  EXPECT_TRUE(vm_.debug_info_readable);
}

TEST_F(DebugInfoCheckTest, TakesTheOtherEncoding) {
  Write(1);
  EXPECT_TRUE(Look());
  EXPECT_EQ(vm_.unsigned5_bias, 1u);
  EXPECT_FALSE(Look());
  EXPECT_TRUE(vm_.debug_info_readable);
}

TEST_F(DebugInfoCheckTest, BytecodeIndexesCount) {
  Write(0);
  bcis_[0] = 299;
  for (int i = 0; i < 100 && vm_.debug_info_readable; ++i) Look();
  EXPECT_FALSE(vm_.debug_info_readable);
}

TEST_F(DebugInfoCheckTest, GivesUpWhenNoEncodingFits) {
  Write(7);
  int looks = 0;
  while (!Look() && looks < 100) ++looks;
  EXPECT_GT(looks, 3);  // not for one odd compilation
  EXPECT_LT(looks, 100);
  EXPECT_FALSE(vm_.debug_info_readable);
  EXPECT_EQ(vm_.unsigned5_bias, 0u);
}

TEST_F(DebugInfoCheckTest, OneOddCompilationAmongSoundOnesMeansNothing) {
  Write(0);
  Look();
  Write(7);
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(Look());
  EXPECT_TRUE(vm_.debug_info_readable);
}

}  // namespace
}  // namespace jtrace::sampling
