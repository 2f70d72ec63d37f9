// The unwinder's lookup for older C libraries, against the one of this system's.
#include "common/old_glibc/find_object.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <vector>

namespace jtrace {
namespace {

static_assert(offsetof(dl_find_object, dlfo_flags) == offsetof(ObjectOfCode, flags));
static_assert(offsetof(dl_find_object, dlfo_map_start) == offsetof(ObjectOfCode, begin));
static_assert(offsetof(dl_find_object, dlfo_map_end) == offsetof(ObjectOfCode, end));
static_assert(offsetof(dl_find_object, dlfo_eh_frame) == offsetof(ObjectOfCode, eh_frame_header));
static_assert(sizeof(dl_find_object) <= sizeof(ObjectOfCode));

int Local() { return 1; }

TEST(FindObjectTest, AgreesWithTheCLibrary) {
  const std::vector<void*> places = {
      reinterpret_cast<void*>(&Local), reinterpret_cast<void*>(&std::abort),
      dlsym(RTLD_DEFAULT, "_ZNSt9exceptionD2Ev"), dlsym(RTLD_DEFAULT, "dlclose")};
  for (void* place : places) {
    ASSERT_NE(place, nullptr);
    dl_find_object expected;
    ASSERT_EQ(_dl_find_object(place, &expected), 0);
    ObjectOfCode found;
    ASSERT_EQ(FindObjectOfCode(place, &found), 0);
    EXPECT_EQ(found.eh_frame_header, expected.dlfo_eh_frame);
    // Of an object with gaps, the C library names the segment only.
    EXPECT_LE(found.begin, expected.dlfo_map_start);
    EXPECT_GE(found.end, expected.dlfo_map_end);
  }
}

TEST(FindObjectTest, FindsNothingOutsideOfObjects) {
  ObjectOfCode found;
  EXPECT_EQ(FindObjectOfCode(nullptr, &found), -1);
  const auto heap = std::make_unique<int>(1);
  EXPECT_EQ(FindObjectOfCode(heap.get(), &found), -1);
  int local = 0;
  EXPECT_EQ(FindObjectOfCode(&local, &found), -1);
}

}  // namespace
}  // namespace jtrace
