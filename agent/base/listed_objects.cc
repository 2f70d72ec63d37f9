#include "agent/base/listed_objects.h"

#include <link.h>

#include <cstring>
#include <string_view>

#include "common/build_id.h"

namespace jtrace {
namespace {

struct Head {
  uintptr_t bias;
  size_t name, headers, build_id;  // sizes in bytes; the data follow in this order
};

// The objects, one after another. `bytes` does not grow under the loader's lock.
struct Copies {
  std::vector<char> bytes;
  size_t used = 0;  // bytes that all objects need; may exceed bytes.size()
};

void Append(Copies& copies, const void* from, size_t size) {
  if (size != 0 && copies.used + size <= copies.bytes.size()) {
    std::memcpy(copies.bytes.data() + copies.used, from, size);
  }
  copies.used += size;
}

int CopyObject(dl_phdr_info* info, size_t, void* into) {
  Copies& copies = *static_cast<Copies*>(into);
  const std::string_view name = info->dlpi_name != nullptr ? info->dlpi_name : "";
  const std::string_view id =
      FindMappedBuildId({info->dlpi_phdr, info->dlpi_phnum}, info->dlpi_addr);
  const Head head = {info->dlpi_addr, name.size(), info->dlpi_phnum * sizeof(Elf64_Phdr),
                     id.size()};
  Append(copies, &head, sizeof head);
  Append(copies, name.data(), head.name);
  Append(copies, info->dlpi_phdr, head.headers);
  Append(copies, id.data(), head.build_id);
  return 0;
}

ListedDso Read(const char*& at) {
  Head head;
  std::memcpy(&head, at, sizeof head);
  const char* const name = at + sizeof head;
  const char* const headers = name + head.name;
  const char* const id = headers + head.headers;
  at = id + head.build_id;
  ListedDso object{head.bias, std::string(name, head.name), {}, std::string(id, head.build_id)};
  object.headers.resize(head.headers / sizeof(Elf64_Phdr));
  if (head.headers != 0) std::memcpy(object.headers.data(), headers, head.headers);
  return object;
}

}  // namespace

std::vector<ListedDso> ListDsos() {
  Copies copies;
  do {
    copies.bytes.resize(copies.used + 16'384);  // room for what is loaded meanwhile
    copies.used = 0;
    dl_iterate_phdr(CopyObject, &copies);
  } while (copies.used > copies.bytes.size());
  std::vector<ListedDso> objects;
  for (const char* at = copies.bytes.data(); at != copies.bytes.data() + copies.used;) {
    objects.push_back(Read(at));
  }
  return objects;
}

}  // namespace jtrace
