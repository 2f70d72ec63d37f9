#include "agent/hotspot/notes_switch.h"

#include <link.h>

#include <optional>
#include <span>

namespace jtrace::sampling {
namespace {

constexpr std::string_view kFlag = "DebugNonSafepoints";

struct Place {
  uintptr_t address;
  uintptr_t libjvm;
  bool is_data;
};

bool Covers(const dl_phdr_info& object, const ElfW(Phdr) & part, uintptr_t address) {
  const uintptr_t begin = object.dlpi_addr + part.p_vaddr;
  return address >= begin && address - begin < part.p_memsz;
}

// Of the object that `libjvm` lies in: whether the address is in memory that the loader leaves
// writable.
int LookAt(dl_phdr_info* object, size_t, void* data) {
  Place& place = *static_cast<Place*>(data);
  bool is_object = false, is_writable = false, is_fixed = false;
  for (const ElfW(Phdr) & part : std::span(object->dlpi_phdr, object->dlpi_phnum)) {
    const bool covers = Covers(*object, part, place.address);
    is_object |= part.p_type == PT_LOAD && Covers(*object, part, place.libjvm);
    is_writable |= covers && part.p_type == PT_LOAD && (part.p_flags & PF_W) != 0;
    is_fixed |= covers && part.p_type == PT_GNU_RELRO;
  }
  if (!is_object) return 0;
  place.is_data = is_writable && !is_fixed;
  return 1;
}

// A wrong table would have another number of bytes for the code cache. The JVM rounds them up.
bool AreRight(const JvmFlags& flags, const hot::VmLayout& layout) {
  constexpr int64_t kMostRounding = 4 << 20;
  if (layout.code_low == nullptr || layout.code_high == nullptr) return false;
  const auto bytes = static_cast<int64_t>(*layout.code_high - *layout.code_low);
  const std::optional<int64_t> reserved = flags.Int("ReservedCodeCacheSize");
  return reserved.has_value() && *reserved > 0 && bytes >= *reserved &&
         bytes - *reserved < kMostRounding;
}

// Compilers read it at the same time.
void Store(uintptr_t flag, bool on) {
  __atomic_store_n(reinterpret_cast<bool*>(flag), on, __ATOMIC_RELAXED);
}

}  // namespace

void NotesSwitch::Find(const JvmFlags& flags, const hot::VmLayout& layout,
                       const void* libjvm_address) {
  const absl::MutexLock lock(&mutex_);
  if (flag_ != 0 || !AreRight(flags, layout)) return;
  const std::optional<bool> is_default = flags.IsDefault(kFlag);
  if (!flags.Bool(kFlag).has_value() || !is_default.has_value()) return;
  Place place{flags.AddressOf(kFlag), reinterpret_cast<uintptr_t>(libjvm_address), false};
  dl_iterate_phdr(LookAt, &place);
  if (!place.is_data) return;
  flag_ = place.address;
  is_chosen_ = !*is_default;
}

bool NotesSwitch::TurnOn() {
  const absl::MutexLock lock(&mutex_);
  if (flag_ == 0) return false;
  if (is_chosen_ || is_changed_ || *reinterpret_cast<const bool*>(flag_)) return true;
  Store(flag_, true);
  is_changed_ = true;
  return true;
}

void NotesSwitch::TurnOff() {
  const absl::MutexLock lock(&mutex_);
  if (!is_changed_) return;
  Store(flag_, false);
  is_changed_ = false;
}

}  // namespace jtrace::sampling
