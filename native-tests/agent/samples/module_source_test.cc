#include "agent/samples/module_source.h"

#include <dlfcn.h>

#include <fstream>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace jtrace::samples {
namespace {

const CodeSegment* Containing(const std::vector<CodeSegment>& modules, const void* address) {
  const auto at = reinterpret_cast<uint64_t>(address);
  for (const CodeSegment& module : modules) {
    if (at >= module.start && at < module.end) return &module;
  }
  return nullptr;
}

// The kernel's list is the reference.
TEST(ModuleScannerTest, AgreesWithProcMaps) {
  const std::vector<CodeSegment> modules = LoadedModules();
  std::ifstream maps("/proc/self/maps");
  int checked = 0;
  for (std::string line; std::getline(maps, line);) {
    unsigned long start = 0;
    unsigned long end = 0;
    unsigned long offset = 0;
    char permissions[5] = {};
    if (sscanf(line.c_str(), "%lx-%lx %4s %lx", &start, &end, permissions, &offset) != 4) continue;
    if (permissions[2] != 'x' || !absl::StrContains(line, ".so")) continue;
    const CodeSegment* module = Containing(modules, reinterpret_cast<void*>(start));
    ASSERT_NE(module, nullptr) << line;
    EXPECT_EQ(module->start, start) << line;
    EXPECT_EQ(module->file_offset, offset) << line;
    EXPECT_LE(module->end, end) << line;
    ++checked;
  }
  EXPECT_GE(checked, 3);
}

TEST(ModuleScannerTest, KnowsItsOwnExecutableAndTheVdso) {
  const std::vector<CodeSegment> modules = LoadedModules();
  const CodeSegment* self = Containing(modules, reinterpret_cast<void*>(&Containing));
  ASSERT_NE(self, nullptr);
  EXPECT_TRUE(absl::EndsWith(self->path, "samples_test")) << self->path;
  EXPECT_EQ(std::count_if(modules.begin(), modules.end(),
                          [](const auto& module) { return module.path == "[vdso]"; }),
            1);
}

TEST(ModuleScannerTest, ReportsOnlyChanges) {
  trace::RecordEncoder encoder({});
  ModuleScanner scanner;
  proto::Chunk first;
  scanner.Scan(1, encoder, first);
  EXPECT_GT(first.module_size(), 2);
  proto::Chunk idle;
  scanner.Scan(2, encoder, idle);
  EXPECT_EQ(idle.module_size(), 0);

  void* library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) GTEST_SKIP() << dlerror();
  proto::Chunk loaded;
  scanner.Scan(3, encoder, loaded);
  ASSERT_GE(loaded.module_size(), 1);
  EXPECT_FALSE(loaded.module(0).unloaded());
  EXPECT_FALSE(loaded.module(0).build_id().empty());
  dlclose(library);
  proto::Chunk gone;
  scanner.Scan(4, encoder, gone);
  ASSERT_EQ(gone.module_size(), loaded.module_size());
  EXPECT_TRUE(gone.module(0).unloaded());
  EXPECT_EQ(gone.module(0).start(), loaded.module(0).start());
}

}  // namespace
}  // namespace jtrace::samples
