// Objects of pcs by the copy that is kept for older C libraries, against the C library's answers.
#include "agent/samples/walk/object_lookup.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "agent/samples/loaded_objects_copy.h"

namespace jtrace::samples {
namespace {

int Local() { return 1; }

uintptr_t Address(int (*function)()) { return reinterpret_cast<uintptr_t>(function); }

class ObjectLookupTest : public testing::Test {
 protected:
  // The loader's list, as an older C library would have it copied.
  void UseCopy(std::span<const MappedDso> objects) {
    Publish(objects);
    SetLoaderLookup(nullptr);
  }
  static size_t Publish(std::span<const MappedDso> objects) {
    std::vector<CopiedDso> copied;
    for (const MappedDso& it : objects) {
      copied.push_back({it, *reinterpret_cast<const uintptr_t*>(it.WordAddress())});
    }
    return PublishMappedDsos(copied);
  }
  void TearDown() override {
    SetLoaderLookup(reinterpret_cast<LoaderLookup>(dlsym(RTLD_DEFAULT, "_dl_find_object")));
  }

  std::array<uintptr_t, 2> words_ = {17, 18};
  uintptr_t header_ = reinterpret_cast<uintptr_t>(words_.data());
};

TEST_F(ObjectLookupTest, TheCopyAgreesWithTheCLibrary) {
  const std::vector<uintptr_t> pcs = {
      Address(&Local), reinterpret_cast<uintptr_t>(&std::abort),
      reinterpret_cast<uintptr_t>(dlsym(RTLD_DEFAULT, "_ZNSt9exceptionD2Ev")), 4096, header_};
  std::vector<MappedDso> expected(pcs.size());
  std::vector<bool> is_found;
  for (size_t i = 0; i < pcs.size(); ++i) {
    is_found.push_back(FindMappedDso(pcs[i], &expected[i]));
  }
  EXPECT_TRUE(is_found[0] && is_found[1] && is_found[2] && !is_found[3] && !is_found[4]);

  CopyDsos();
  SetLoaderLookup(nullptr);
  for (size_t i = 0; i < pcs.size(); ++i) {
    MappedDso found;
    ASSERT_EQ(FindMappedDso(pcs[i], &found), is_found[i]) << i;
    if (!is_found[i]) continue;
    // Of an object with gaps, the C library names the segment only.
    EXPECT_LE(found.begin, expected[i].begin);
    EXPECT_GE(found.end, expected[i].end);
    EXPECT_EQ(found.eh_frame_hdr, expected[i].eh_frame_hdr);
  }
}

TEST_F(ObjectLookupTest, EdgesOfTheCopy) {
  UseCopy({});
  MappedDso found;
  EXPECT_FALSE(FindMappedDso(100, &found));
  const MappedDso objects[] = {{100, 200, header_}, {300, 400, header_}};
  UseCopy(objects);
  EXPECT_FALSE(FindMappedDso(99, &found));
  EXPECT_TRUE(FindMappedDso(100, &found));
  EXPECT_TRUE(FindMappedDso(199, &found));
  EXPECT_FALSE(FindMappedDso(200, &found));
  EXPECT_TRUE(FindMappedDso(399, &found));
  EXPECT_EQ(found.eh_frame_hdr, header_);
  EXPECT_FALSE(FindMappedDso(400, &found));
}

TEST_F(ObjectLookupTest, AnObjectThatWasUnloadedIsNotFound) {
  const MappedDso object[] = {{100, 200, header_}};
  UseCopy(object);
  words_[0] = 0;  // another object's memory now
  MappedDso found;
  EXPECT_FALSE(FindMappedDso(150, &found));
}

TEST_F(ObjectLookupTest, ObjectsBeyondTheLimitAreLeftOut) {
  std::vector<MappedDso> many;
  for (uintptr_t i = 1; i <= kMaxMappedDsos + 1; ++i) {
    many.push_back({i * 100, i * 100 + 50, header_});
  }
  EXPECT_EQ(Publish(many), kMaxMappedDsos);
  SetLoaderLookup(nullptr);
  MappedDso found;
  EXPECT_TRUE(FindMappedDso(kMaxMappedDsos * 100, &found));
  EXPECT_FALSE(FindMappedDso((kMaxMappedDsos + 1) * 100, &found));
}

TEST_F(ObjectLookupTest, ReadersSeeWholeObjectsWhileTheCopyChanges) {
  UseCopy({});
  std::atomic<bool> done{false};
  std::atomic<int> found_some{0};
  std::thread reader([&] {
    MappedDso found;
    while (!done) {
      if (!FindMappedDso(1500, &found)) continue;
      ASSERT_EQ(found.end - found.begin, found.begin == 1000 ? 1000u : 600u);
      ++found_some;
    }
  });
  const MappedDso one[] = {{1000, 2000, header_}};
  const MappedDso other[] = {{400, 500, header_}, {1400, 2000, header_}};
  for (int i = 0; i < 100'000 || (found_some == 0 && i < 100'000'000); ++i) {
    Publish(i % 2 == 0 ? std::span<const MappedDso>(one) : other);
  }
  done = true;
  reader.join();
  EXPECT_GT(found_some, 0);
}

}  // namespace
}  // namespace jtrace::samples
