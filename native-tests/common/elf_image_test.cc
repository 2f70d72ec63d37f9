#include "common/elf_image.h"

#include <elf.h>

#include <cstring>
#include <optional>
#include <string>

#include "gtest/gtest.h"

namespace jtrace {
namespace {

// A file of one segment, whose bytes are those of the headers.
std::string FileWithSegment(uint64_t offset, uint64_t address, uint64_t size) {
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_phoff = sizeof(header);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 1;
  Elf64_Phdr segment = {};
  segment.p_type = PT_LOAD;
  segment.p_offset = offset;
  segment.p_vaddr = address;
  segment.p_filesz = size;
  std::string file(reinterpret_cast<const char*>(&header), sizeof(header));
  return file.append(reinterpret_cast<const char*>(&segment), sizeof(segment));
}

TEST(ElfImageTest, PlacesInTheFileAreAddressesAndBack) {
  const std::string file = FileWithSegment(16, 0x1000, 32);
  const auto image = ElfImage::Parse(file);
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_EQ(image->AddressOf(20), 0x1004u);
  EXPECT_EQ(image->FileOffsetOf(0x1004), 20u);
  EXPECT_EQ(image->AddressOf(48), std::nullopt);
  EXPECT_EQ(image->BytesAt(0x1010).size(), 16u);
}

// Addresses would begin again at 0, where no segment is found.
TEST(ElfImageTest, SegmentsBeyondTheAddressSpaceAreNotThere) {
  const std::string file = FileWithSegment(0, ~uint64_t{15}, 32);
  const auto image = ElfImage::Parse(file);
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_EQ(image->AddressOf(31), std::nullopt);
  EXPECT_EQ(image->AddressOf(0), std::nullopt);
}

}  // namespace
}  // namespace jtrace
