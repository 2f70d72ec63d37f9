// The constant pool (JVMS 4.4): looks up its entries and adds new ones after them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/classfile/byte_io.h"

namespace jtrace::classfile {

// JVMS table 4.4-A.
enum class ConstantTag : uint8_t {
  kNone = 0,
  kUtf8 = 1,
  kInteger = 3,
  kFloat = 4,
  kLong = 5,
  kDouble = 6,
  kClass = 7,
  kString = 8,
  kFieldref = 9,
  kMethodref = 10,
  kInterfaceMethodref = 11,
  kNameAndType = 12,
  kMethodHandle = 15,
  kMethodType = 16,
  kDynamic = 17,
  kInvokeDynamic = 18,
};

// Read in place. Every lookup accepts any index and checks tags.
class ConstantPool {
 public:
  // Reads the count and the entries at `reader`; false if they are not a constant pool.
  // `bytes` is the whole class file, `reader` a reader over it.
  bool Parse(Bytes bytes, ByteReader& reader);

  // constant_pool_count: one more than the highest index.
  uint16_t count() const { return static_cast<uint16_t>(offsets_.size()); }
  // The entries as they are in the file, without the count.
  Bytes entries() const { return entries_; }

  std::optional<std::string_view> Utf8(uint16_t index) const;
  std::optional<std::string_view> ClassName(uint16_t index) const;
  // The index of the Class entry of that name, 0 if there is none. Linear.
  uint16_t FindClass(std::string_view name) const;
  // The index of that Utf8 entry, 0 if there is none. Linear.
  uint16_t FindUtf8(std::string_view text) const;

  struct Member {
    std::string_view class_name;
    std::string_view name;
    std::string_view descriptor;
  };
  // A Methodref or InterfaceMethodref.
  std::optional<Member> Method(uint16_t index) const;
  // A Fieldref.
  std::optional<Member> Field(uint16_t index) const;
  struct NameAndType {
    std::string_view name;
    std::string_view descriptor;
  };
  // Of a NameAndType, or of an entry that names one after another u2: members, dynamic constants
  // and calls.
  std::optional<NameAndType> NameAndTypeOf(uint16_t index) const;
  // An entry as it is in the file: its tag (kNone: there is none at this index) and what follows.
  struct Raw {
    ConstantTag tag = ConstantTag::kNone;
    Bytes payload;
  };
  Raw At(uint16_t index) const;
  // Whether loading the constant is only a copy: a number or a String.
  bool IsPlainValue(uint16_t index) const;

  template <typename F>
  void ForEachClass(F&& f) const {
    for (const uint16_t index : classes_) {
      if (auto name = ClassName(index)) f(*name, index);
    }
  }

 private:
  const uint8_t* Entry(uint16_t index, uint8_t tag) const;
  std::optional<Member> MemberAt(const uint8_t* entry) const;

  Bytes bytes_;
  Bytes entries_;
  std::vector<uint32_t> offsets_;  // of the tag; 0 if there is no entry
  std::vector<uint16_t> classes_;
};

// Adds entries after those of a pool. Index 0 means that the pool is full.
class ConstantPoolBuilder {
 public:
  explicit ConstantPoolBuilder(const ConstantPool& pool) : pool_(pool), count_(pool.count()) {}

  uint16_t AddUtf8(std::string_view text);
  uint16_t AddClass(std::string_view name);
  uint16_t AddMethodref(uint16_t class_index, std::string_view name, std::string_view descriptor);
  uint16_t AddInteger(uint32_t value);
  // An old or new Class entry.
  uint16_t FindOrAddClass(std::string_view name);
  uint16_t FindOrAddUtf8(std::string_view text);

  bool HasRoom(int entries) const { return count_ + entries <= kMaxCount; }
  uint16_t count() const { return count_; }
  Bytes added() const { return added_.bytes(); }

 private:
  static constexpr int kMaxCount = kMaxU2;  // constant_pool_count is a u2 (JVMS 4.1)

  uint16_t Begin(uint8_t tag);

  const ConstantPool& pool_;
  ByteWriter added_;
  uint16_t count_;
  bool indexed_ = false;
  // Names point into the class file.
  absl::flat_hash_map<std::string_view, uint16_t> classes_;
};

}  // namespace jtrace::classfile
