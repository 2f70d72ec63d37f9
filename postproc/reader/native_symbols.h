// Names of native code: from the files of the modules that were mapped, and from the names that the
// JVM gave its stubs; by address and time (S3.10).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "postproc/model/address_map.h"
#include "postproc/model/elf_symbols.h"
#include "postproc/model/trace_model.h"
#include "postproc/reader/input_file.h"

namespace jtrace::postproc {

class NativeSymbols {
 public:
  void AddModule(uint64_t start, uint64_t end, uint64_t file_offset, std::string_view path,
                 std::string_view build_id, int64_t time);
  void RemoveModule(uint64_t start, uint64_t end, int64_t time);
  void AddStub(uint64_t start, uint64_t end, std::string_view name, int64_t time);
  void RemoveStub(uint64_t start, uint64_t end, int64_t time);
  // Call once when all are known.
  void Seal();

  // The frame of native code at `address`. A return address belongs to the call before it, which
  // may be its function's last instruction. Symbol files are read when first needed, names
  // demangled when first met. Without a symbol: "[libfoo.so+0x1234]", without a module "[0x1234]".
  FrameId FrameAt(uint64_t address, bool is_return_address, int64_t time, TraceModel& model);
  // The stub at `address`, or an empty name.
  std::string_view StubAt(uint64_t address, int64_t time) const;

 private:
  // A file that is mapped, perhaps several times.
  struct File {
    std::string path;
    std::string build_id;
    std::string base_name;
    bool opened = false;
    std::optional<InputFile> content;
    std::optional<ElfSymbols> symbols;
  };
  struct Mapping {
    uint32_t file = 0;
    uint64_t file_offset = 0;
  };
  void Open(File& file);
  Frame Resolve(const AddressRange& range, uint64_t address, TraceModel& model);

  AddressMap modules_;
  AddressMap stubs_;
  std::vector<Mapping> mappings_;
  std::vector<std::unique_ptr<File>> files_;
  absl::flat_hash_map<std::pair<std::string, std::string>, uint32_t> file_index_;
  std::vector<std::string> stub_names_;
  absl::flat_hash_map<std::pair<const AddressRange*, uint64_t>, FrameId> resolved_;
};

}  // namespace jtrace::postproc
