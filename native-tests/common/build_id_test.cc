#include "common/build_id.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace jtrace {
namespace {

using std::string_view_literals::operator""sv;

std::string Padded(std::string_view text, size_t unit) {
  std::string padded(text);
  padded.resize((padded.size() + unit - 1) / unit * unit);
  return padded;
}

std::string Note(uint32_t type, std::string_view owner, std::string_view text, size_t unit = 4) {
  const Elf64_Nhdr header = {static_cast<uint32_t>(owner.size()),
                             static_cast<uint32_t>(text.size()), type};
  std::string note(reinterpret_cast<const char*>(&header), sizeof header);
  return Padded(note.append(owner), unit) + Padded(text, unit);
}

TEST(BuildIdTest, StandsAmongOtherNotes) {
  const std::string notes = Note(NT_GNU_ABI_TAG, "GNU\0"sv, "0123456789abcdef") +
                            Note(NT_GNU_BUILD_ID, "SUN\0"sv, "not GNU's") +
                            Note(NT_GNU_BUILD_ID, "GNU\0"sv, "the id");
  EXPECT_EQ(FindBuildId(notes, 4), "the id");
}

TEST(BuildIdTest, AlignmentOfEightPadsToEight) {
  const std::string notes = Note(NT_GNU_PROPERTY_TYPE_0, "GNU\0"sv, "0123", 8) +
                            Note(NT_GNU_BUILD_ID, "GNU\0"sv, "the id", 8);
  EXPECT_EQ(FindBuildId(notes, 8), "the id");
}

TEST(BuildIdTest, NothingIsReadBeyondTheNotes) {
  const std::string whole = Note(NT_GNU_BUILD_ID, "GNU\0"sv, "four");
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(FindBuildId(std::string_view(whole).substr(0, size), 4), "") << size;
  }
  const Elf64_Nhdr huge = {0xffff'ffff, 0xffff'ffff, NT_GNU_BUILD_ID};
  EXPECT_EQ(FindBuildId({reinterpret_cast<const char*>(&huge), sizeof huge}, 4), "");
}

TEST(BuildIdTest, MappedNotesCountOnlyInsideOfASegment) {
  const std::string notes = Note(NT_GNU_BUILD_ID, "GNU\0"sv, "the id");
  const auto bias = reinterpret_cast<uintptr_t>(notes.data()) - 0x1000;
  Elf64_Phdr segment = {};
  segment.p_type = PT_LOAD;
  segment.p_flags = PF_R;
  segment.p_vaddr = 0x1000;
  segment.p_filesz = notes.size();
  Elf64_Phdr part = {};
  part.p_type = PT_NOTE;
  part.p_vaddr = 0x1000;
  part.p_memsz = notes.size();
  part.p_align = 4;
  EXPECT_EQ(FindMappedBuildId({part, segment}, bias), "the id");
  segment.p_filesz -= 1;
  EXPECT_EQ(FindMappedBuildId({part, segment}, bias), "");
  EXPECT_EQ(FindMappedBuildId({part}, bias), "");
}

}  // namespace
}  // namespace jtrace
