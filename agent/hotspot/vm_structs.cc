#include "agent/hotspot/vm_structs.h"

#include <dlfcn.h>

#include <atomic>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "agent/hotspot/load.h"

namespace jtrace::sampling {
namespace {

// libjvm exports the layout of its tables' entries as separate variables.
std::optional<uintptr_t> Exported(void* libjvm, const char* name) {
  void* const variable = dlsym(libjvm, name);
  if (variable == nullptr) return std::nullopt;
  return Load<uintptr_t>(reinterpret_cast<uintptr_t>(variable));
}

std::string_view Name(uintptr_t address) {
  const char* const name = Load<const char*>(address);
  return name != nullptr ? name : "";
}

}  // namespace

absl::StatusOr<const VmStructs*> VmStructs::Of(const void* libjvm_address) {
  struct Known {
    const void* library;
    VmStructs structs;
  };
  static std::atomic<const Known*> known = nullptr;
  Dl_info info;
  if (libjvm_address == nullptr || dladdr(libjvm_address, &info) == 0) {
    return absl::NotFoundError("libjvm was not found");
  }
  const Known* const before = known.load();
  if (before != nullptr && before->library == info.dli_fbase) return &before->structs;
  void* const libjvm = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  if (libjvm == nullptr) return absl::NotFoundError(absl::StrCat("cannot open ", info.dli_fname));
  absl::StatusOr<VmStructs> structs = Read(libjvm);
  dlclose(libjvm);
  if (!structs.ok()) return structs.status();
  // Two threads may both read; each result stays.
  const auto* const result = new Known{info.dli_fbase, *std::move(structs)};
  known.store(result);
  return &result->structs;
}

absl::StatusOr<VmStructs> VmStructs::Read(void* libjvm) {
  const char* const names[] = {
      "gHotSpotVMStructs",
      "gHotSpotVMStructEntryArrayStride",
      "gHotSpotVMStructEntryTypeNameOffset",
      "gHotSpotVMStructEntryFieldNameOffset",
      "gHotSpotVMStructEntryIsStaticOffset",
      "gHotSpotVMStructEntryOffsetOffset",
      "gHotSpotVMStructEntryAddressOffset",
      "gHotSpotVMTypes",
      "gHotSpotVMTypeEntryArrayStride",
      "gHotSpotVMTypeEntryTypeNameOffset",
      "gHotSpotVMTypeEntrySizeOffset",
  };
  constexpr int kCount = sizeof names / sizeof *names;
  uintptr_t values[kCount];
  for (int i = 0; i < kCount; ++i) {
    const auto value = Exported(libjvm, names[i]);
    if (!value) return absl::NotFoundError(absl::StrCat("the JVM does not export ", names[i]));
    values[i] = *value;
  }
  const auto [structs, stride, type_at, field_at, static_at, offset_at, address_at, types,
              type_stride, type_name_at, size_at] = values;

  VmStructs result;
  for (uintptr_t entry = structs; Load<const char*>(entry + type_at) != nullptr; entry += stride) {
    const Key key{Name(entry + type_at), Name(entry + field_at)};
    if (Load<int32_t>(entry + static_at) != 0) {
      result.statics_.emplace(key, Load<uintptr_t>(entry + address_at));
    } else {
      result.offsets_.emplace(key, static_cast<int32_t>(Load<uint64_t>(entry + offset_at)));
    }
  }
  for (uintptr_t entry = types; Load<const char*>(entry + type_name_at) != nullptr;
       entry += type_stride) {
    result.sizes_.emplace(Name(entry + type_name_at),
                          static_cast<uint32_t>(Load<uint64_t>(entry + size_at)));
  }
  result.ReadConstants(libjvm);
  result.ReadLongConstants(libjvm);
  return result;
}

// Without them less is known, but nothing is wrong.
void VmStructs::ReadConstants(void* libjvm) {
  const auto entries = Exported(libjvm, "gHotSpotVMIntConstants");
  const auto stride = Exported(libjvm, "gHotSpotVMIntConstantEntryArrayStride");
  const auto name_at = Exported(libjvm, "gHotSpotVMIntConstantEntryNameOffset");
  const auto value_at = Exported(libjvm, "gHotSpotVMIntConstantEntryValueOffset");
  if (!entries || !stride || !name_at || !value_at) return;
  for (uintptr_t entry = *entries; Load<const char*>(entry + *name_at) != nullptr;
       entry += *stride) {
    constants_.emplace(Name(entry + *name_at), Load<int32_t>(entry + *value_at));
  }
}

void VmStructs::ReadLongConstants(void* libjvm) {
  const auto entries = Exported(libjvm, "gHotSpotVMLongConstants");
  const auto stride = Exported(libjvm, "gHotSpotVMLongConstantEntryArrayStride");
  const auto name_at = Exported(libjvm, "gHotSpotVMLongConstantEntryNameOffset");
  const auto value_at = Exported(libjvm, "gHotSpotVMLongConstantEntryValueOffset");
  if (!entries || !stride || !name_at || !value_at) return;
  for (uintptr_t entry = *entries; Load<const char*>(entry + *name_at) != nullptr;
       entry += *stride) {
    long_constants_.emplace(Name(entry + *name_at), Load<int64_t>(entry + *value_at));
  }
}

int64_t VmStructs::LongConstant(std::string_view name) const {
  const auto found = long_constants_.find(name);
  return found != long_constants_.end() ? found->second : hot::kNoValue;
}

int32_t VmStructs::Constant(std::string_view name) const {
  const auto found = constants_.find(name);
  return found != constants_.end() ? found->second : hot::kNoValue;
}

hot::Offset VmStructs::Field(std::string_view type, std::string_view field) const {
  const auto found = offsets_.find(Key{type, field});
  return found != offsets_.end() ? found->second : hot::kAbsent;
}

hot::Offset VmStructs::Field(std::initializer_list<std::string_view> types,
                             std::string_view field) const {
  for (const std::string_view type : types) {
    const hot::Offset offset = Field(type, field);
    if (offset != hot::kAbsent) return offset;
  }
  return hot::kAbsent;
}

uintptr_t VmStructs::Static(std::string_view type, std::string_view field) const {
  const auto found = statics_.find(Key{type, field});
  return found != statics_.end() ? found->second : 0;
}

uintptr_t VmStructs::StaticPointer(std::string_view type, std::string_view field) const {
  const uintptr_t address = Static(type, field);
  return address != 0 ? Load<uintptr_t>(address) : 0;
}

uint32_t VmStructs::Size(std::string_view type) const {
  const auto found = sizes_.find(type);
  return found != sizes_.end() ? found->second : 0;
}

}  // namespace jtrace::sampling
