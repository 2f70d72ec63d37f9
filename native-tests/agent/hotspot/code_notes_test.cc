// Artificial compilations: calls, and the code before each of them.
#include "agent/hotspot/code_notes.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

namespace jtrace::sampling {
namespace {

jmethodID Method(uintptr_t number) { return reinterpret_cast<jmethodID>(8 * number); }

// Rows in pairs: an instruction, and a call of 5 bytes 16 bytes later.
class CodeNotesTest : public testing::Test {
 protected:
  static constexpr int kCalls = 60, kStep = 32;

  // outer: the method that `inlined` is inlined into; 0: nothing is inlined.
  void Add(int at, uintptr_t inlined, uintptr_t outer) {
    methods_.push_back({Method(inlined), Method(outer)});
    bcis_.push_back({1, 2});
    PCStackInfo row{};
    row.pc = code_.data() + at;
    row.numstackframes = outer != 0 ? 2 : 1;
    rows_.push_back(row);
  }
  void AddPair(int i, bool fits) {
    Add(kStep * i + 8, fits ? 5 : 6, 1);
    code_[static_cast<size_t>(kStep * i + 24 - 5)] = 0xe8;
    Add(kStep * i + 24, 5, 1);
  }
  bool Wrong() {
    for (size_t i = 0; i < rows_.size(); ++i) {
      rows_[i].methods = methods_[i].data();
      rows_[i].bcis = bcis_[i].data();
    }
    jvmtiCompiledMethodLoadInlineRecord record{};
    record.header.kind = JVMTI_CMLR_INLINE_INFO;
    record.numpcs = static_cast<jint>(rows_.size());
    record.pcinfo = rows_.data();
    EXPECT_EQ(FindInlineRecord(&record), &record);
    return NotesAreWrong(record);
  }

  std::vector<uint8_t> code_ = std::vector<uint8_t>(kStep * kCalls + 8, 0x90);
  std::vector<std::array<jmethodID, 2>> methods_;
  std::vector<std::array<jint, 2>> bcis_;
  std::vector<PCStackInfo> rows_;
};

TEST_F(CodeNotesTest, CodeOfTheCallsOwnMethodIsRight) {
  for (int i = 0; i < kCalls; ++i) AddPair(i, true);
  EXPECT_FALSE(Wrong());
}

TEST_F(CodeNotesTest, CodeOfMethodsAroundTheCallIsRight) {
  for (int i = 0; i < kCalls; ++i) {
    AddPair(i, true);
    // The method that the call's method is inlined into; it is not inlined itself.
    methods_[methods_.size() - 2] = {Method(1), nullptr};
    rows_[rows_.size() - 2].numstackframes = 1;
  }
  EXPECT_FALSE(Wrong());
}

TEST_F(CodeNotesTest, CodeOfMethodsElsewhereIsWrong) {
  for (int i = 0; i < kCalls; ++i) AddPair(i, i % 8 == 0);
  EXPECT_TRUE(Wrong());
}

TEST_F(CodeNotesTest, HalfRightIsRight) {
  for (int i = 0; i < kCalls; ++i) AddPair(i, i % 2 == 0);
  EXPECT_FALSE(Wrong());
}

TEST_F(CodeNotesTest, FewCallsProveNothing) {
  for (int i = 0; i < 20; ++i) AddPair(i, false);
  EXPECT_FALSE(Wrong());
}

TEST_F(CodeNotesTest, FindsNoRecordInNull) { EXPECT_EQ(FindInlineRecord(nullptr), nullptr); }

}  // namespace
}  // namespace jtrace::sampling
