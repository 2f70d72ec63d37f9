#include "common/classfile/constant_pool.h"

namespace jtrace::classfile {
namespace {

// As in the file.
constexpr auto kUtf8 = static_cast<uint8_t>(ConstantTag::kUtf8);
constexpr auto kInteger = static_cast<uint8_t>(ConstantTag::kInteger);
constexpr auto kFloat = static_cast<uint8_t>(ConstantTag::kFloat);
constexpr auto kLong = static_cast<uint8_t>(ConstantTag::kLong);
constexpr auto kDouble = static_cast<uint8_t>(ConstantTag::kDouble);
constexpr auto kClass = static_cast<uint8_t>(ConstantTag::kClass);
constexpr auto kString = static_cast<uint8_t>(ConstantTag::kString);
constexpr auto kFieldref = static_cast<uint8_t>(ConstantTag::kFieldref);
constexpr auto kMethodref = static_cast<uint8_t>(ConstantTag::kMethodref);
constexpr auto kInterfaceMethodref = static_cast<uint8_t>(ConstantTag::kInterfaceMethodref);
constexpr auto kNameAndType = static_cast<uint8_t>(ConstantTag::kNameAndType);

// Bytes after the tag; 0 for Utf8 (varies) and for tags that do not exist. JVMS table 4.4-A.
size_t PayloadSize(uint8_t tag) {
  static constexpr uint8_t kSizes[] = {0, 0, 0, 4, 4, 8, 8, 2, 2, 4, 4,
                                       4, 4, 0, 0, 3, 2, 4, 4, 2, 2};
  return tag < sizeof kSizes ? kSizes[tag] : 0;
}

}  // namespace

bool ConstantPool::Parse(Bytes bytes, ByteReader& reader) {
  bytes_ = bytes;
  const uint16_t count = reader.U2();
  if (!reader.ok() || count == 0) return false;
  const size_t begin = reader.position();
  offsets_.assign(count, 0);
  for (uint16_t index = 1; index < count; ++index) {
    offsets_[index] = static_cast<uint32_t>(reader.position());
    const uint8_t tag = reader.U1();
    const size_t size = tag == kUtf8 ? reader.U2() : PayloadSize(tag);
    if (size == 0 && tag != kUtf8) return false;
    reader.Skip(size);
    if (!reader.ok()) return false;
    if (tag == kClass) classes_.push_back(index);
    if (tag == kLong || tag == kDouble) {
      if (++index == count) return false;  // they take two indices
    }
  }
  entries_ = bytes.subspan(begin, reader.position() - begin);
  return true;
}

const uint8_t* ConstantPool::Entry(uint16_t index, uint8_t tag) const {
  if (index >= offsets_.size() || offsets_[index] == 0) return nullptr;
  const uint8_t* entry = bytes_.data() + offsets_[index];
  return *entry == tag ? entry + 1 : nullptr;
}

std::optional<std::string_view> ConstantPool::Utf8(uint16_t index) const {
  const uint8_t* entry = Entry(index, kUtf8);
  if (entry == nullptr) return std::nullopt;
  return std::string_view(reinterpret_cast<const char*>(entry + 2), LoadU2(entry));
}

std::optional<std::string_view> ConstantPool::ClassName(uint16_t index) const {
  const uint8_t* entry = Entry(index, kClass);
  if (entry == nullptr) return std::nullopt;
  return Utf8(LoadU2(entry));
}

std::optional<ConstantPool::Member> ConstantPool::Method(uint16_t index) const {
  const uint8_t* entry = Entry(index, kMethodref);
  if (entry == nullptr) entry = Entry(index, kInterfaceMethodref);
  return MemberAt(entry);
}

std::optional<ConstantPool::Member> ConstantPool::Field(uint16_t index) const {
  return MemberAt(Entry(index, kFieldref));
}

ConstantPool::Raw ConstantPool::At(uint16_t index) const {
  if (index >= offsets_.size() || offsets_[index] == 0) return {};
  const uint8_t* entry = bytes_.data() + offsets_[index];
  const size_t size = *entry == kUtf8 ? size_t{2} + LoadU2(entry + 1) : PayloadSize(*entry);
  return {static_cast<ConstantTag>(*entry), Bytes(entry + 1, size)};
}

std::optional<ConstantPool::NameAndType> ConstantPool::NameAndTypeOf(uint16_t index) const {
  const Raw raw = At(index);
  const bool names_another = raw.payload.size() == 4 && raw.tag != ConstantTag::kNameAndType &&
                             raw.tag != ConstantTag::kInteger && raw.tag != ConstantTag::kFloat &&
                             raw.tag != ConstantTag::kUtf8;
  const uint16_t at = names_another ? LoadU2(raw.payload.data() + 2) : index;
  const uint8_t* entry = Entry(at, kNameAndType);
  if (entry == nullptr) return std::nullopt;
  const auto name = Utf8(LoadU2(entry));
  const auto descriptor = Utf8(LoadU2(entry + 2));
  if (!name || !descriptor) return std::nullopt;
  return NameAndType{*name, *descriptor};
}

bool ConstantPool::IsPlainValue(uint16_t index) const {
  for (const uint8_t tag : {kInteger, kFloat, kLong, kDouble, kString}) {
    if (Entry(index, tag) != nullptr) return true;
  }
  return false;
}

// `entry`: a class and a name and type, or null.
std::optional<ConstantPool::Member> ConstantPool::MemberAt(const uint8_t* entry) const {
  if (entry == nullptr) return std::nullopt;
  const auto class_name = ClassName(LoadU2(entry));
  const uint8_t* name_and_type = Entry(LoadU2(entry + 2), kNameAndType);
  if (!class_name || name_and_type == nullptr) return std::nullopt;
  const auto name = Utf8(LoadU2(name_and_type));
  const auto descriptor = Utf8(LoadU2(name_and_type + 2));
  if (!name || !descriptor) return std::nullopt;
  return Member{*class_name, *name, *descriptor};
}

uint16_t ConstantPool::FindClass(std::string_view name) const {
  for (const uint16_t index : classes_) {
    if (ClassName(index) == name) return index;
  }
  return 0;
}

uint16_t ConstantPool::FindUtf8(std::string_view text) const {
  for (size_t index = 1; index < offsets_.size(); ++index) {
    if (Utf8(static_cast<uint16_t>(index)) == text) return static_cast<uint16_t>(index);
  }
  return 0;
}

uint16_t ConstantPoolBuilder::Begin(uint8_t tag) {
  if (count_ == kMaxCount) return 0;
  added_.U1(tag);
  return count_++;
}

uint16_t ConstantPoolBuilder::AddUtf8(std::string_view text) {
  if (text.size() > kMaxU2) return 0;
  const uint16_t index = Begin(kUtf8);
  if (index == 0) return 0;
  added_.U2(static_cast<uint32_t>(text.size()));
  added_.Append({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  return index;
}

uint16_t ConstantPoolBuilder::AddClass(std::string_view name) {
  const uint16_t name_index = AddUtf8(name);
  if (name_index == 0) return 0;
  const uint16_t index = Begin(kClass);
  if (index != 0) added_.U2(name_index);
  return index;
}

uint16_t ConstantPoolBuilder::AddMethodref(uint16_t class_index, std::string_view name,
                                           std::string_view descriptor) {
  if (class_index == 0 || !HasRoom(4)) return 0;
  const uint16_t name_index = AddUtf8(name);
  const uint16_t descriptor_index = AddUtf8(descriptor);
  const uint16_t name_and_type = Begin(kNameAndType);
  added_.U2(name_index);
  added_.U2(descriptor_index);
  const uint16_t index = Begin(kMethodref);
  added_.U2(class_index);
  added_.U2(name_and_type);
  return index;
}

uint16_t ConstantPoolBuilder::AddInteger(uint32_t value) {
  const uint16_t index = Begin(kInteger);
  if (index != 0) added_.U4(value);
  return index;
}

uint16_t ConstantPoolBuilder::FindOrAddClass(std::string_view name) {
  if (!indexed_) {
    indexed_ = true;
    pool_.ForEachClass(
        [this](std::string_view known, uint16_t index) { classes_.emplace(known, index); });
  }
  auto [entry, inserted] = classes_.try_emplace(name, 0);
  if (entry->second == 0) entry->second = AddClass(name);
  return entry->second;
}

uint16_t ConstantPoolBuilder::FindOrAddUtf8(std::string_view text) {
  const uint16_t found = pool_.FindUtf8(text);
  return found != 0 ? found : AddUtf8(text);
}

}  // namespace jtrace::classfile
