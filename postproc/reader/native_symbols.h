// Names of native code: from the files of mapped modules and the names of the JVM's stubs; by
// address and time (S3.10).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "postproc/model/address_map.h"
#include "postproc/model/elf_functions.h"
#include "postproc/model/trace_model.h"
#include "postproc/reader/input_file.h"

namespace jtrace::postproc {

// The code at an address of a mapped module.
struct NativePlace {
  FrameId frame;
  uint32_t file = 0;
  uint64_t address = 0;  // the linker's
  ElfFunction function;
  // The target of the call before the address; read on first use.
  std::optional<ElfCall> call;
};

class NativeSymbols {
 public:
  // With `read_files` false no file is opened, and functions have no names. The symbols of stripped
  // files are looked for in `debug_files`, by build id.
  explicit NativeSymbols(bool read_files, std::string debug_files = "/usr/lib/debug")
      : read_files_(read_files), debug_files_(std::move(debug_files)) {}

  void AddModule(uint64_t start, uint64_t end, uint64_t file_offset, std::string_view path,
                 std::string_view build_id, int64_t time);
  void RemoveModule(uint64_t start, uint64_t end, int64_t time);
  void AddStub(uint64_t start, uint64_t end, std::string_view name, int64_t time);
  void RemoveStub(uint64_t start, uint64_t end, int64_t time);
  // Call once when all are known.
  void Seal();

  // A frame of native code. `place` is null outside every module; it and `range`, which contains
  // the place from range->from to before range->to, stay valid.
  struct Found {
    FrameId frame;
    NativePlace* place = nullptr;
    const AddressRange* range = nullptr;
  };
  // The frame at `address`. A return address belongs to the call before it, which may be its
  // function's last instruction. Symbol files are read when first needed, names demangled when
  // first seen. A function without a symbol is named by its start in the file
  // ("[libfoo.so+0x1200]"), code outside any function by its own place there, and outside every
  // module "[0x1234]".
  Found At(uint64_t address, bool is_return_address, int64_t time, TraceModel& model);

  // The function between two frames of a chain that ended in a jump to `callee`, so that the stack
  // has no frame of it: the one that `caller`, the place before a return address, calls, if
  // `callee` is in another function. No frame if there is none, or if it is unknown: the call is
  // indirect, or the name that it uses is not defined in the callee's file.
  FrameId TailCaller(const NativePlace& callee, NativePlace& caller, TraceModel& model);

  // The frame of a new thread's first function in the C library, start_thread, if that has no
  // symbol: `caller` is the code that begins threads. Else none.
  FrameId ThreadStart(const NativePlace& callee, const NativePlace& caller,
                      TraceModel& model) const;

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
    std::optional<InputFile> debug;  // its debug information
    std::optional<ElfFunctions> functions;
  };
  struct Mapping {
    uint32_t file = 0;
    uint64_t file_offset = 0;
  };
  void Open(File& file);
  // Adds the symbols of the file's debug information, if it is installed.
  void OpenDebug(File& file) const;
  NativePlace Resolve(const AddressRange& range, uint64_t address, bool is_return_address,
                      TraceModel& model);
  // The frame of a function, or of the code at `file_offset` if it is not known.
  Frame MakeFrame(const File& file, const ElfFunction& function, uint64_t file_offset,
                  TraceModel& model) const;
  FrameId FindTailCaller(const NativePlace& callee, const NativePlace& caller, TraceModel& model);

  const bool read_files_;
  const std::string debug_files_;
  AddressMap modules_;
  AddressMap stubs_;
  std::vector<Mapping> mappings_;
  std::vector<std::unique_ptr<File>> files_;
  absl::flat_hash_map<std::pair<std::string, std::string>, uint32_t> file_index_;
  std::vector<std::string> stub_names_;
  std::deque<NativePlace> places_;
  // By range, address, and whether it is a return address.
  absl::flat_hash_map<std::tuple<const AddressRange*, uint64_t, bool>, NativePlace*> resolved_;
  // By the callee's file and function, and the caller; of those that may have one.
  absl::flat_hash_map<std::tuple<uint32_t, uint64_t, const NativePlace*>, FrameId> tail_callers_;
};

}  // namespace jtrace::postproc
