#include "agent/native_hooks/loaded_objects.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "agent/base/loader_list.h"
#include "common/elf_image.h"
#include "common/object_file.h"

namespace jtrace::native_hooks {
namespace {

constexpr char kProgram[] = "/proc/self/exe";
constexpr absl::string_view kDeleted = " (deleted)";  // what the kernel appends to a path

std::string ProgramPath() {
  char path[PATH_MAX];
  const ssize_t length = readlink(kProgram, path, sizeof path);
  if (length <= 0) return "";
  return std::string(absl::StripSuffix({path, static_cast<size_t>(length)}, kDeleted));
}

void Add(ListedObject listed, std::vector<LoadedObject>& objects) {
  LoadedObject object;
  object.is_program = listed.name.empty();
  object.path = object.is_program ? ProgramPath() : std::move(listed.name);
  // The vdso is not a file.
  if (!absl::StrContains(object.path, '/')) return;
  object.name = object.path.substr(object.path.rfind('/') + 1);
  object.bias = listed.bias;
  object.headers = std::move(listed.headers);
  object.build_id = std::move(listed.build_id);
  for (const Elf64_Phdr& segment : object.headers) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const uintptr_t begin = object.bias + segment.p_vaddr;
    object.code.emplace_back(begin, begin + segment.p_memsz);
  }
  objects.push_back(std::move(object));
}

// Whether the file that is mapped at an address no longer has a name.
bool IsDeletedAt(uintptr_t address) {
  std::ifstream maps("/proc/self/maps");
  std::string line;
  while (std::getline(maps, line)) {
    unsigned long begin = 0;
    unsigned long end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx", &begin, &end) != 2) continue;
    if (address >= begin && address < end) return absl::EndsWith(line, kDeleted);
  }
  return false;
}

bool HasSameHeaders(const LoadedObject& object, std::string_view headers) {
  const size_t size = object.headers.size() * sizeof object.headers[0];
  return headers == std::string_view(reinterpret_cast<const char*>(object.headers.data()), size);
}

}  // namespace

bool LoadedObject::HasCodeAt(uintptr_t address) const {
  return std::any_of(code.begin(), code.end(), [address](const auto& segment) {
    return address >= segment.first && address < segment.second;
  });
}

bool LoadedObject::IsLibc() const {
  return absl::StartsWith(name, "libc.so") || absl::StartsWith(name, "libc-2.") ||
         absl::StartsWith(name, "libpthread.so") || absl::StartsWith(name, "libpthread-2.");
}

std::vector<LoadedObject> LoadedObjects() {
  std::vector<LoadedObject> objects;
  for (ListedObject& listed : ListObjects()) Add(std::move(listed), objects);
  return objects;
}

std::string ReadablePath(const LoadedObject& object) {
  return object.is_program ? kProgram : object.path;
}

FileState StateOfFile(const LoadedObject& object) {
  if (object.is_program) return FileState::kSame;
  const ObjectFile file(object.path);
  const absl::StatusOr<ElfImage> image = ElfImage::Parse(file.content());
  if (!image.ok() || image->program_headers().empty()) {
    return access(object.path.c_str(), F_OK) == 0 ? FileState::kReplaced : FileState::kGone;
  }
  if (!object.build_id.empty()) {
    return image->build_id() == object.build_id ? FileState::kSame : FileState::kReplaced;
  }
  // Another build may have the same headers, but not in the same file.
  const bool is_same = HasSameHeaders(object, image->program_headers()) && !object.code.empty() &&
                       !IsDeletedAt(object.code.front().first);
  return is_same ? FileState::kSame : FileState::kReplaced;
}

void CloseObject::operator()(void* handle) const { dlclose(handle); }

ObjectHandle Hold(const LoadedObject& object, const link_map** map) {
  const char* const name = object.is_program ? nullptr : object.path.c_str();
  ObjectHandle handle(dlopen(name, RTLD_LAZY | RTLD_NOLOAD));
  const link_map* found = nullptr;
  if (handle == nullptr || dlinfo(handle.get(), RTLD_DI_LINKMAP, &found) != 0 ||
      found->l_addr != object.bias) {
    return nullptr;
  }
  if (map != nullptr) *map = found;
  return handle;
}

absl::Status Pin(const LoadedObject& object) {
  if (object.is_program) return absl::OkStatus();
  // The handle is kept open.
  void* const handle = dlopen(object.path.c_str(), RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  const link_map* map = nullptr;
  if (handle != nullptr && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 &&
      map->l_addr == object.bias) {
    return absl::OkStatus();
  }
  return absl::NotFoundError(absl::StrCat(object.name, " was unloaded meanwhile"));
}

}  // namespace jtrace::native_hooks
