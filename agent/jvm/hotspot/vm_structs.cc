#include "agent/jvm/hotspot/vm_structs.h"

#include <dlfcn.h>

#include <atomic>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "agent/jvm/hotspot/checked_read.h"
#include "agent/jvm/hotspot/vm_table_entries.h"

namespace jtrace::jvm {
namespace {

// Returns the value of an exported variable, 0 if there is none of that name. libjvm exports its
// tables, and the layout of their entries, as separate variables.
uintptr_t Exported(void* libjvm, const std::string& name) {
  void* const variable = dlsym(libjvm, name.c_str());
  return variable == nullptr ? 0 : Load<uintptr_t>(reinterpret_cast<uintptr_t>(variable));
}

// No structure of HotSpot is larger, in bytes. An offset beyond it is wrong, and counts as absent,
// because some objects are read without a guard.
constexpr uint64_t kLargestObject = 8192;

// More rows than any JVM has. Reading stops there if a table has no end.
constexpr int kMaxTableRows = 100'000;

// The rows of an exported table, up to the first without a name.
class Table {
 public:
  // `entry`: the part of the variables' names that is VMStruct in gHotSpotVMStructEntryArrayStride.
  Table(void* libjvm, PageReader& reader, const std::string& table, const std::string& entry,
        const std::string& name)
      : libjvm_(libjvm),
        reader_(reader),
        entry_("gHotSpot" + entry + "Entry"),
        rows_(Exported(libjvm, "gHotSpot" + table)),
        stride_(Exported(libjvm, entry_ + "ArrayStride")),
        name_at_(Column(name)) {}

  uintptr_t Column(const std::string& name) const {
    return Exported(libjvm_, entry_ + name + "Offset");
  }
  bool exists() const { return rows_ != 0 && stride_ != 0; }

  // visit(row, name) for each row.
  template <typename Visit>
  void ForEach(Visit visit) {
    uintptr_t row = rows_;
    for (int i = 0; exists() && i < kMaxTableRows; ++i, row += stride_) {
      const std::string name = TextAt(row + name_at_);
      if (name.empty()) return;
      visit(row, name);
    }
  }
  std::string TextAt(uintptr_t address) {
    const auto text = reader_.Load<uintptr_t>(address);
    return text == 0 ? std::string() : reader_.Text(text);
  }

 private:
  void* const libjvm_;
  PageReader& reader_;
  const std::string entry_;
  const uintptr_t rows_, stride_, name_at_;
};

}  // namespace

// The entries that may be read, by kind and name.
struct VmStructs::Rows {
  absl::flat_hash_map<Key, Key> fields, statics;
  absl::flat_hash_map<std::string_view, std::string_view> sizes, constants, long_constants;

  Rows() {
    for (const VmTableEntry& read : VmTableEntries()) {
      const Key key{read.type, read.field};
      switch (read.kind) {
        case VmTableEntryKind::kField:
          fields.emplace(key, key);
          break;
        case VmTableEntryKind::kStatic:
          statics.emplace(key, key);
          break;
        case VmTableEntryKind::kSize:
          sizes.emplace(read.type, read.type);
          break;
        case VmTableEntryKind::kConstant:
          constants.emplace(read.field, read.field);
          break;
        case VmTableEntryKind::kLongConstant:
          long_constants.emplace(read.field, read.field);
          break;
      }
    }
  }
};

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
  // Two threads may both read. Neither result is freed, because callers keep pointers to it.
  const auto* const result = new Known{info.dli_fbase, *std::move(structs)};
  known.store(result);
  return &result->structs;
}

absl::StatusOr<VmStructs> VmStructs::Read(void* libjvm) {
  for (const char* const name : {"gHotSpotVMStructs", "gHotSpotVMStructEntryArrayStride",
                                 "gHotSpotVMTypes", "gHotSpotVMTypeEntryArrayStride"}) {
    if (Exported(libjvm, name) == 0) {
      return absl::NotFoundError(absl::StrCat("the JVM does not export ", name));
    }
  }
  PageReader reader;
  const Rows rows;
  VmStructs result;
  result.ReadFields(libjvm, reader, rows);
  result.ReadTypes(libjvm, reader, rows);
  return result;
}

void VmStructs::ReadFields(void* libjvm, PageReader& reader, const Rows& rows) {
  Table table(libjvm, reader, "VMStructs", "VMStruct", "TypeName");
  const uintptr_t field_at = table.Column("FieldName");
  const uintptr_t type_at = table.Column("TypeString");
  const uintptr_t static_at = table.Column("IsStatic");
  const uintptr_t offset_at = table.Column("Offset");
  const uintptr_t address_at = table.Column("Address");
  table.ForEach([&](uintptr_t row, const std::string& type) {
    const std::string field = table.TextAt(row + field_at);
    const bool is_static = reader.Load<int32_t>(row + static_at) != 0;
    const auto& wanted = is_static ? rows.statics : rows.fields;
    const auto found = wanted.find(Key{type, field});
    if (found == wanted.end()) return;
    if (is_static) {
      const auto address = reader.Load<uintptr_t>(row + address_at);
      uint8_t byte;
      if (CheckedCopy(address, &byte, sizeof byte)) statics_.emplace(found->second, address);
      return;
    }
    const auto offset = reader.Load<uint64_t>(row + offset_at);
    if (offset >= kLargestObject) return;
    offsets_.emplace(found->second, static_cast<int32_t>(offset));
    field_types_.emplace(found->second, table.TextAt(row + type_at));
  });
}

// A JVM may lack the tables of constants: then less is known, but nothing is wrong.
void VmStructs::ReadTypes(void* libjvm, PageReader& reader, const Rows& rows) {
  const auto read = [&](Table table, const char* column, const auto& wanted, auto& into) {
    const uintptr_t value_at = table.Column(column);
    table.ForEach([&](uintptr_t row, const std::string& name) {
      using Value = typename std::remove_cvref_t<decltype(into)>::mapped_type;
      const auto found = wanted.find(name);
      if (found != wanted.end()) into.emplace(found->second, reader.Load<Value>(row + value_at));
    });
  };
  read(Table(libjvm, reader, "VMTypes", "VMType", "TypeName"), "Size", rows.sizes, sizes_);
  absl::erase_if(sizes_, [](const auto& row) { return row.second > kLargestObject; });
  read(Table(libjvm, reader, "VMIntConstants", "VMIntConstant", "Name"), "Value", rows.constants,
       constants_);
  read(Table(libjvm, reader, "VMLongConstants", "VMLongConstant", "Name"), "Value",
       rows.long_constants, long_constants_);
}

bool VmStructs::HasType(std::string_view type, std::string_view field,
                        std::string_view its_type) const {
  const auto found = field_types_.find(Key{type, field});
  return found != field_types_.end() && found->second == its_type;
}

int64_t VmStructs::LongConstant(std::string_view name) const {
  const auto found = long_constants_.find(name);
  return found != long_constants_.end() ? found->second : samples::kNoValue;
}

int32_t VmStructs::Constant(std::string_view name) const {
  const auto found = constants_.find(name);
  return found != constants_.end() ? found->second : samples::kNoValue;
}

samples::Offset VmStructs::Field(std::string_view type, std::string_view field) const {
  const auto found = offsets_.find(Key{type, field});
  return found != offsets_.end() ? found->second : samples::kAbsent;
}

samples::Offset VmStructs::Field(std::initializer_list<std::string_view> types,
                                 std::string_view field) const {
  for (const std::string_view type : types) {
    const samples::Offset offset = Field(type, field);
    if (offset != samples::kAbsent) return offset;
  }
  return samples::kAbsent;
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

}  // namespace jtrace::jvm
