#include "agent/jvm/stub_registry.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "agent/samples/handler/sample_handler.h"
#include "agent/signal_safe/safe_read.h"
#include "common/elf_image.h"
#include "common/object_file.h"

namespace jtrace::jvm {
namespace {

uintptr_t Follow(uintptr_t object, samples::Offset offset) {
  return object == 0 ? 0 : signal_safe::SafeReadOr0(object + static_cast<uintptr_t>(offset));
}

}  // namespace

void StubRegistry::Add(std::string_view name, uintptr_t begin, uintptr_t end) {
  // The entry for the whole interpreter would hide its codelets.
  if (begin >= end || name == "Interpreter") return;
  absl::MutexLock lock(&mutex_);
  stubs_[begin] = Stub{end, std::string(name)};
  changed_ = true;
}

std::string StubRegistry::Name(uintptr_t address) const {
  absl::MutexLock lock(&mutex_);
  auto after = stubs_.upper_bound(address);
  if (after == stubs_.begin()) return "";
  const auto& [begin, stub] = *--after;
  return address < stub.end ? stub.name : "";
}

void StubRegistry::Publish(samples::VmLayout* layout) {
  absl::MutexLock lock(&mutex_);
  if (!changed_) return;
  auto fresh = std::make_unique<Table>();
  fresh->ranges.reserve(stubs_.size());
  for (const auto& [begin, stub] : stubs_) {
    if (!fresh->ranges.empty() && fresh->ranges.back().end > begin) {
      fresh->ranges.back().end = begin;
    }
    fresh->ranges.push_back({begin, stub.end, absl::StrContains(stub.name, "method entry point")});
  }
  fresh->table = {static_cast<uint32_t>(fresh->ranges.size()), fresh->ranges.data()};
  // What allocates comes first: a table that handlers see is not freed by an exception.
  if (current_ != nullptr) retired_.push_back(std::move(current_));
  current_ = std::move(fresh);
  layout->stubs.store(&current_->table, std::memory_order_seq_cst);
  changed_ = false;
  // A handler that starts after this uses the new table.
  if (samples::handlers_in_flight.Idle()) retired_.clear();
}

std::vector<uint64_t> FindElfSymbols(const std::string& path,
                                     absl::Span<const std::string_view> names) {
  std::vector<uint64_t> values(names.size(), 0);
  const ObjectFile file(path);
  const absl::StatusOr<ElfImage> image = ElfImage::Parse(file.content());
  if (!image.ok()) return values;
  image->ForEachSymbol(SHT_SYMTAB, [&](std::string_view text, const Elf64_Sym& symbol) {
    for (size_t i = 0; i < names.size(); ++i) {
      const size_t size = names[i].size();
      if (text.starts_with(names[i]) && text.size() > size && text[size] == 0) {
        values[i] = symbol.st_value;
      }
    }
  });
  return values;
}

IntrinsicNames::IntrinsicNames(const VmStructs& structs, const samples::VmLayout& layout)
    : const_method_(layout.method.const_method),
      constants_(layout.method.constants),
      pool_holder_(layout.method.pool_holder),
      name_index_(structs.Field("ConstMethod", "_name_index")),
      signature_index_(structs.Field("ConstMethod", "_signature_index")),
      klass_name_(structs.Field("Klass", "_name")),
      symbol_length_(structs.Field("Symbol", "_length")),
      symbol_body_(structs.Field("Symbol", "_body[0]")),
      pool_size_(structs.Size("ConstantPool")) {
  const samples::Offset needed[] = {const_method_,    constants_,  pool_holder_,   name_index_,
                                    signature_index_, klass_name_, symbol_length_, symbol_body_};
  usable_ = pool_size_ != 0 &&
            std::find(std::begin(needed), std::end(needed), samples::kAbsent) == std::end(needed);
}

std::string IntrinsicNames::SymbolAt(uintptr_t address) const {
  std::string text;
  uint16_t length;
  if (address == 0 ||
      !signal_safe::SafeRead(address + static_cast<uintptr_t>(symbol_length_), &length)) {
    return text;
  }
  for (uintptr_t at = address + static_cast<uintptr_t>(symbol_body_); text.size() < length; ++at) {
    uint8_t byte;
    if (!signal_safe::SafeRead(at, &byte)) return {};
    text.push_back(static_cast<char>(byte));
  }
  return text;
}

std::string IntrinsicNames::PoolText(uintptr_t constants, uintptr_t index_address) const {
  uint16_t index;
  if (!signal_safe::SafeRead(index_address, &index)) return {};
  // The lowest bit marks entries that are not resolved, which texts are from the start.
  return SymbolAt(signal_safe::SafeReadOr0(constants + pool_size_ + 8 * uintptr_t{index}) &
                  ~uintptr_t{1});
}

std::optional<IntrinsicMethod> IntrinsicNames::Find(uintptr_t method) const {
  if (!usable_) return std::nullopt;
  const uintptr_t const_method = Follow(method, const_method_);
  const uintptr_t constants = Follow(const_method, constants_);
  const uintptr_t holder = Follow(constants, pool_holder_);
  if (SymbolAt(Follow(holder, klass_name_)) != "java/lang/invoke/MethodHandle") {
    return std::nullopt;
  }
  IntrinsicMethod found;
  found.name = PoolText(constants, const_method + static_cast<uintptr_t>(name_index_));
  found.descriptor = PoolText(constants, const_method + static_cast<uintptr_t>(signature_index_));
  if (found.name.empty() || found.descriptor.empty()) return std::nullopt;
  return found;
}

}  // namespace jtrace::jvm
