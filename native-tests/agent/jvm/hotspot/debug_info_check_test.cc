// Finds a JVM's encoding of debug information from what it reports about its code.
#include "agent/jvm/hotspot/debug_info_check.h"

#include <gtest/gtest.h>

#include <vector>

#include "native-tests/agent/samples/walk/fake_nmethod.h"

namespace jtrace::jvm {
namespace {

// An artificial nmethod of one call, at bci 300 of method 1 (a number of two bytes), inlined in
// method 2 at bci 5; and the JVM's record of it.
class DebugInfoCheckTest : public ::testing::Test {
 protected:
  void SetUp() override {
    testing::FakeNmethod::Describe(vm_);
    vm_.unsigned5_bias = 0;
    row_.pc = reinterpret_cast<void*>(testing::FakeNmethod::kCode + 20);
    row_.numstackframes = 2;
    row_.methods = ids_;
    row_.bcis = bcis_;
    record_.numpcs = 1;
    record_.pcinfo = &row_;
  }

  // Like HotSpot: three numbers a scope, after one byte because there has to be a scope 0.
  void Write(uint32_t bias) {
    std::vector<uint8_t> bytes = {0};
    const int32_t outer = Scope({0, 2, 5 + 1}, bias, &bytes);
    const int32_t inlined = Scope({static_cast<uint32_t>(outer), 1, 300 + 1}, bias, &bytes);
    nmethod_.PutScopes(bytes);
    nmethod_.ClearPcDescs();
    nmethod_.AddPcDesc(20, inlined);
  }
  bool Check() { return check_.Check(record_, nmethod_.blob()); }

  samples::VmLayout vm_;
  DebugInfoCheck check_{&vm_};
  jint bcis_[2] = {300, 5};

 private:
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
  uint64_t methods_[2] = {testing::FakeNmethod::kFirstMethod, testing::FakeNmethod::kSecondMethod};
  jmethodID ids_[2] = {reinterpret_cast<jmethodID>(&methods_[0]),
                       reinterpret_cast<jmethodID>(&methods_[1])};
  PCStackInfo row_{};
  jvmtiCompiledMethodLoadInlineRecord record_{};
  testing::FakeNmethod nmethod_;
};

TEST_F(DebugInfoCheckTest, KeepsTheRightEncoding) {
  Write(0);
  EXPECT_FALSE(Check());
  EXPECT_EQ(vm_.unsigned5_bias, 0u);
  EXPECT_TRUE(vm_.debug_info_readable);
}

TEST_F(DebugInfoCheckTest, SwitchesToTheOtherEncoding) {
  Write(1);
  EXPECT_TRUE(Check());
  EXPECT_EQ(vm_.unsigned5_bias, 1u);
  EXPECT_FALSE(Check());
  EXPECT_TRUE(vm_.debug_info_readable);
}

TEST_F(DebugInfoCheckTest, ComparesBytecodeIndexes) {
  Write(0);
  bcis_[0] = 299;
  for (int i = 0; i < 100 && vm_.debug_info_readable; ++i) Check();
  EXPECT_FALSE(vm_.debug_info_readable);
}

TEST_F(DebugInfoCheckTest, RejectsAllEncodingsIfNoneFits) {
  Write(7);
  int looks = 0;
  while (!Check() && looks < 100) ++looks;
  EXPECT_GT(looks, 3);  // not for one odd compilation
  EXPECT_LT(looks, 100);
  EXPECT_FALSE(vm_.debug_info_readable);
  EXPECT_EQ(vm_.unsigned5_bias, 0u);
}

TEST_F(DebugInfoCheckTest, OneOddCompilationAmongSoundOnesMeansNothing) {
  Write(0);
  Check();
  Write(7);
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(Check());
  EXPECT_TRUE(vm_.debug_info_readable);
}

}  // namespace
}  // namespace jtrace::jvm
