// Nothing is allocated while the agent holds the loader's lock: native-tests/support/loader_lock.cc
// ends the program where that happens.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>

#include <string>

#include "agent/base/listed_objects.h"
#include "agent/native_hooks/object_functions.h"
#include "agent/native_hooks/trap_signal.h"
#include "agent/samples/loaded_objects_copy.h"
#include "agent/samples/module_source.h"
#include "common/old_glibc/find_object.h"

namespace jtrace::samples {
namespace {

TEST(LoaderLockTest, TheCheckSeesAllocations) {
  const auto allocate = [](dl_phdr_info*, size_t, void* into) {
    *static_cast<std::string*>(into) = std::string(100, 'x');
    return 1;
  };
  std::string text;
  EXPECT_DEATH(dl_iterate_phdr(allocate, &text), "while the loader's lock is held");
}

TEST(LoaderLockTest, ModulesAreListedWithoutAllocating) { EXPECT_GT(LoadedModules().size(), 3u); }

TEST(LoaderLockTest, ObjectsAreCopiedWithoutAllocating) { CopyDsos(); }

TEST(LoaderLockTest, ObjectsToHookAreListedWithoutAllocating) {
  EXPECT_GT(native_hooks::LoadedDsos().size(), 2u);
  EXPECT_GT(native_hooks::ObjectsLoadedSoFar(), 2u);
}

TEST(LoaderLockTest, ExceptionsFindTheirObjectWithoutAllocating) {
  ObjectOfCode found;
  EXPECT_EQ(FindObjectOfCode(reinterpret_cast<void*>(&CopyDsos), &found), 0);
}

// The loader's own record of each object is the reference.
TEST(LoaderListTest, HasAllObjects) {
  const auto objects = ListDsos();
  size_t at = 0;
  const auto* map = static_cast<const r_debug*>(dlsym(RTLD_DEFAULT, "_r_debug"))->r_map;
  for (; map != nullptr; map = map->l_next) {
    ASSERT_LT(at, objects.size());
    EXPECT_EQ(objects[at].name, map->l_name);
    EXPECT_EQ(objects[at].bias, map->l_addr);
    EXPECT_FALSE(objects[at].headers.empty());
    ++at;
  }
  EXPECT_EQ(at, objects.size());
}

}  // namespace
}  // namespace jtrace::samples
