#include "postproc/reader/native_symbols.h"

#include "absl/strings/str_format.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

std::string BaseName(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

// The JVM itself, whose frames have an origin of their own.
bool IsJvm(std::string_view base_name) { return base_name == "libjvm.so"; }

}  // namespace

void NativeSymbols::AddModule(uint64_t start, uint64_t end, uint64_t file_offset,
                              std::string_view path, std::string_view build_id, int64_t time) {
  auto [entry, inserted] = file_index_.try_emplace({std::string(path), std::string(build_id)},
                                                   static_cast<uint32_t>(files_.size()));
  if (inserted) {
    auto file = std::make_unique<File>();
    file->path = path;
    file->build_id = build_id;
    file->base_name = BaseName(path);
    files_.push_back(std::move(file));
  }
  modules_.Add(start, end, time, static_cast<uint32_t>(mappings_.size()));
  mappings_.push_back({entry->second, file_offset});
}

void NativeSymbols::RemoveModule(uint64_t start, uint64_t end, int64_t time) {
  modules_.Remove(start, end, time);
}

void NativeSymbols::AddStub(uint64_t start, uint64_t end, std::string_view name, int64_t time) {
  stubs_.Add(start, end, time, static_cast<uint32_t>(stub_names_.size()));
  stub_names_.emplace_back(name);
}

void NativeSymbols::RemoveStub(uint64_t start, uint64_t end, int64_t time) {
  stubs_.Remove(start, end, time);
}

void NativeSymbols::Seal() {
  modules_.Seal();
  stubs_.Seal();
}

void NativeSymbols::Open(File& file) {
  file.opened = true;
  if (!file.path.starts_with("/")) return;  // "[vdso]"
  absl::StatusOr<InputFile> content = InputFile::OpenRegular(file.path);
  if (!content.ok()) return;
  file.content.emplace(*std::move(content));
  absl::StatusOr<ElfSymbols> symbols = ElfSymbols::Parse(file.content->content());
  if (!symbols.ok()) return;
  // Another build than the one that ran would give wrong names.
  if (!file.build_id.empty() && symbols->build_id() != file.build_id) return;
  file.symbols.emplace(*std::move(symbols));
}

Frame NativeSymbols::Resolve(const AddressRange& range, uint64_t address, TraceModel& model) {
  const Mapping& mapping = mappings_[range.payload];
  File& file = *files_[mapping.file];
  if (!file.opened) Open(file);
  const uint64_t offset = address - range.start + mapping.file_offset;
  std::string_view symbol;
  if (file.symbols.has_value()) symbol = file.symbols->FindByFileOffset(offset);
  Frame frame;
  frame.origin = IsJvm(file.base_name) ? Origin::kVm : Origin::kNative;
  frame.module = model.InternModule(file.base_name);
  frame.routine = model.InternRoutine(
      symbol.empty() ? absl::StrFormat("[%s+0x%x]", file.base_name, offset) : Demangle(symbol));
  return frame;
}

FrameId NativeSymbols::FrameAt(uint64_t address, bool is_return_address, int64_t time,
                               TraceModel& model) {
  if (is_return_address && address > 0) --address;
  const AddressRange* range = modules_.Find(address, time);
  if (range == nullptr) {
    const std::string_view stub = StubAt(address, time);
    Frame frame;
    frame.origin = stub.empty() ? Origin::kNative : Origin::kVm;
    if (!stub.empty()) frame.module = model.InternModule("[stubs]");
    frame.routine =
        model.InternRoutine(stub.empty() ? absl::StrFormat("[0x%x]", address) : std::string(stub));
    return model.InternFrame(frame);
  }
  FrameId& frame = resolved_[{range, address}];
  if (!frame) frame = model.InternFrame(Resolve(*range, address, model));
  return frame;
}

std::string_view NativeSymbols::StubAt(uint64_t address, int64_t time) const {
  const AddressRange* range = stubs_.Find(address, time);
  return range == nullptr ? std::string_view() : std::string_view(stub_names_[range->payload]);
}

}  // namespace jtrace::postproc
