#include "agent/native_hooks/patch_site_table.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/native_hooks/displaced_instruction.h"
#include "agent/native_hooks/out_of_line_code.h"
#include "agent/signal_safe/safe_read.h"

namespace jtrace::native_hooks {
namespace {

constexpr uint8_t kInt3 = 0xcc;

signal_safe::PatchSites* Published() {
  if (signal_safe::PatchSites* sites = signal_safe::patch_sites.load()) return sites;
  auto* const sites = new (std::nothrow) signal_safe::PatchSites();
  signal_safe::patch_sites.store(sites, std::memory_order_release);
  return sites;
}

void Publish(signal_safe::PatchSites& sites, signal_safe::PatchSite* site) {
  uint32_t i = signal_safe::PatchSites::Hash(site->address);
  while (sites.slots[i % signal_safe::PatchSites::kSlots].load() != nullptr) ++i;
  sites.slots[i % signal_safe::PatchSites::kSlots].store(site, std::memory_order_release);
}

// Returns memory as it is, with our int3.
std::vector<uint8_t> ReadMemory(uintptr_t address, size_t most) {
  std::vector<uint8_t> bytes;
  while (bytes.size() < most) {
    // Whole words only: the last word of a mapping includes its last bytes.
    const uintptr_t at = address + bytes.size();
    uintptr_t word = 0;
    if (!signal_safe::SafeReadWord(at & ~uintptr_t{7}, &word)) break;
    for (uintptr_t i = at % 8; i < 8; ++i) bytes.push_back(static_cast<uint8_t>(word >> 8 * i));
  }
  bytes.resize(std::min(bytes.size(), most));
  return bytes;
}

}  // namespace

std::vector<uint8_t> ReadCode(uintptr_t address, size_t most) {
  std::vector<uint8_t> bytes = ReadMemory(address, most);
  const signal_safe::PatchSites* const sites = signal_safe::patch_sites.load();
  for (size_t i = 0; i < bytes.size() && sites != nullptr; ++i) {
    if (bytes[i] != kInt3) continue;
    if (const signal_safe::PatchSite* const site = sites->Find(address + i)) bytes[i] = site->byte;
  }
  return bytes;
}

absl::StatusOr<signal_safe::PatchSite*> PatchSiteTable::Make(uintptr_t address) {
  const auto known = by_address_.find(address);
  if (known != by_address_.end()) return sites_[known->second].site;
  return MakeNew(address);
}

absl::StatusOr<signal_safe::PatchSite*> PatchSiteTable::MakeNew(uintptr_t address) {
  signal_safe::PatchSites* const published = Published();
  if (published == nullptr || sites_.size() == signal_safe::PatchSites::kMaxSites) {
    return absl::ResourceExhaustedError(absl::StrCat("there is no room for more than ",
                                                     signal_safe::PatchSites::kMaxSites, " hooks"));
  }
  std::vector<uint8_t> bytes = ReadCode(address, kMaxInstruction);
  // An instruction that can be displaced nowhere must not use up a slot.
  if (auto anywhere = Displace(bytes, address, address); !anywhere.ok()) return anywhere.status();
  auto slot = pages_.Allocate(address);
  if (!slot.ok()) return slot.status();
  const auto displaced = Displace(bytes, address, *slot);
  absl::Status written = displaced.ok() ? WriteNewCode(*slot, displaced->code) : displaced.status();
  if (!written.ok()) {
    pages_.Release(*slot);
    return written;
  }
  auto* const site = new signal_safe::PatchSite{};
  site->address = address;
  site->number = static_cast<uint32_t>(sites_.size() + 1);
  site->byte = bytes[0];
  site->slot = *slot;
  site->done = displaced->done;
  site->after = displaced->after;
  pages_.Publish(*slot, site);
  Publish(*published, site);
  SerializeProcessors();
  by_address_.emplace(address, static_cast<uint32_t>(sites_.size()));
  bytes.resize(displaced->length);
  sites_.push_back({site, std::move(bytes), false});
  return site;
}

absl::Status PatchSiteTable::Insert(Patch& patch) {
  // Another tool's breakpoint, or the code has changed since the site was made.
  if (ReadMemory(patch.site->address, patch.instruction.size()) != patch.instruction) {
    return absl::FailedPreconditionError("another breakpoint is there");
  }
  if (absl::Status status = WriteCodeByte(patch.site->address, kInt3); !status.ok()) return status;
  patch.has_int3 = true;
  SerializeProcessors();
  return absl::OkStatus();
}

absl::Status PatchSiteTable::Remove(Patch& patch) {
  // If another tool has changed the byte since, it must not be changed back.
  if (ReadMemory(patch.site->address, 1) == std::vector<uint8_t>{kInt3}) {
    absl::Status status = WriteCodeByte(patch.site->address, patch.site->byte);
    if (!status.ok()) return status;
  }
  patch.has_int3 = false;
  SerializeProcessors();
  return absl::OkStatus();
}

absl::Status PatchSiteTable::SetBinding(signal_safe::PatchSite& site,
                                        signal_safe::SiteBinding binding) {
  Patch& patch = sites_[site.number - 1];
  site.binding.store(binding);
  if (binding.actions == 0) return patch.has_int3 ? Remove(patch) : absl::OkStatus();
  if (patch.has_int3) return absl::OkStatus();
  absl::Status status = Insert(patch);
  if (!status.ok()) site.binding.store({});
  return status;
}

}  // namespace jtrace::native_hooks
