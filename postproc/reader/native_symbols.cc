#include "postproc/reader/native_symbols.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "common/demangle.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

std::string BaseName(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

// The JVM itself, whose frames have a separate origin.
bool IsJvm(std::string_view base_name) { return base_name == "libjvm.so"; }

bool HasSymbolTable(const ElfImage& image) {
  return std::any_of(image.sections().begin(), image.sections().end(),
                     [](const ElfImage::Section& it) { return it.type == SHT_SYMTAB; });
}

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
  if (!read_files_ || !file.path.starts_with("/")) return;  // "[vdso]"
  absl::StatusOr<InputFile> content = InputFile::OpenRegular(file.path);
  if (!content.ok()) return;
  file.content.emplace(*std::move(content));
  absl::StatusOr<ElfFunctions> functions = ElfFunctions::Parse(file.content->content());
  if (!functions.ok()) return;
  // A different build from the one that ran would give wrong names.
  if (!file.build_id.empty() && functions->image().build_id() != file.build_id) return;
  file.functions.emplace(*std::move(functions));
  OpenDebug(file);
}

void NativeSymbols::OpenDebug(File& file) const {
  const ElfImage& image = file.functions->image();
  const std::string id = absl::BytesToHexString({image.build_id().data(), image.build_id().size()});
  if (id.size() <= 2 || HasSymbolTable(image)) return;
  absl::StatusOr<InputFile> content = InputFile::OpenRegular(
      StrCat(debug_files_, "/.build-id/", id.substr(0, 2), "/", id.substr(2), ".debug"));
  if (!content.ok()) return;
  file.debug.emplace(*std::move(content));
  const absl::StatusOr<ElfImage> debug = ElfImage::Parse(file.debug->content());
  if (debug.ok() && debug->build_id() == image.build_id()) file.functions->AddSymbols(*debug);
}

Frame NativeSymbols::MakeFrame(const File& file, const ElfFunction& function, uint64_t file_offset,
                               TraceModel& model) const {
  Frame frame;
  frame.origin = IsJvm(file.base_name) ? Origin::kVm : Origin::kNative;
  frame.module = model.InternModule(file.base_name);
  if (!function.symbol.empty()) {
    frame.routine = model.InternRoutine(Demangle(function.symbol));
    return frame;
  }
  if (function.start != 0) {
    file_offset = file.functions->image().FileOffsetOf(function.start).value_or(file_offset);
  }
  frame.routine = model.InternRoutine(absl::StrFormat("[%s+0x%x]", file.base_name, file_offset));
  return frame;
}

NativePlace NativeSymbols::Resolve(const AddressRange& range, uint64_t address,
                                   bool is_return_address, TraceModel& model) {
  const Mapping& mapping = mappings_[range.payload];
  File& file = *files_[mapping.file];
  if (!file.opened) Open(file);
  const uint64_t offset = address - range.start + mapping.file_offset;
  NativePlace place;
  place.file = mapping.file;
  if (file.functions.has_value()) {
    if (const auto linked = file.functions->image().AddressOf(offset)) {
      place.function = file.functions->At(*linked);
      place.address = *linked;
    }
  }
  if (!is_return_address || place.address == 0) place.call.emplace();
  place.frame = model.InternFrame(MakeFrame(file, place.function, offset, model));
  return place;
}

NativeSymbols::Found NativeSymbols::At(uint64_t address, bool is_return_address, int64_t time,
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
    return {model.InternFrame(frame)};
  }
  NativePlace*& place = resolved_[{range, address, is_return_address}];
  if (place == nullptr) {
    place = &places_.emplace_back(Resolve(*range, address, is_return_address, model));
  }
  return {place->frame, place, range};
}

FrameId NativeSymbols::TailCaller(const NativePlace& callee, NativePlace& caller,
                                  TraceModel& model) {
  if (callee.function.start == 0 || callee.function.is_signal_frame) return {};
  if (!caller.call.has_value()) {
    caller.call = files_[caller.file]->functions->CallBefore(caller.address + 1);
  }
  if (caller.call->function.start == 0) return {};
  const bool is_whole = caller.file == callee.file && caller.call->import.empty() &&
                        caller.call->function.start == callee.function.start;
  if (is_whole) return {};
  const auto [entry, inserted] =
      tail_callers_.try_emplace({callee.file, callee.function.start, &caller});
  if (inserted) entry->second = FindTailCaller(callee, caller, model);
  return entry->second;
}

FrameId NativeSymbols::FindTailCaller(const NativePlace& callee, const NativePlace& caller,
                                      TraceModel& model) {
  File& callees = *files_[callee.file];
  const ElfCall& call = *caller.call;
  // In the linkage table itself the thread is on its way to the called function.
  if (caller.file == callee.file && callees.functions->IsPartOf(callee.function, call.function)) {
    return {};
  }
  uint32_t file = caller.file;
  ElfFunction function = call.function;
  // A name is searched only in the callee's file; it is not known from which other file the loader
  // takes it.
  if (!call.import.empty()) {
    file = callee.file;
    function = callees.functions->Exported(call.import);
    if (function.start == 0 || callees.functions->IsPartOf(callee.function, function)) return {};
  }
  Frame frame = MakeFrame(*files_[file], function, 0, model);
  frame.is_tail_call = true;
  return model.InternFrame(frame);
}

FrameId NativeSymbols::ThreadStart(const NativePlace& callee, const NativePlace& caller,
                                   TraceModel& model) const {
  const File& file = *files_[callee.file];
  const bool is_nameless = callee.function.start != 0 && callee.function.symbol.empty();
  if (!is_nameless || !ElfFunctions::StartsThreads(caller.function)) return {};
  // Older ones have threads in a library of their own.
  if (!file.base_name.starts_with("libc.so") && !file.base_name.starts_with("libpthread.so")) {
    return {};
  }
  ElfFunction function = callee.function;
  function.symbol = "start_thread";
  return model.InternFrame(MakeFrame(file, function, 0, model));
}

std::string_view NativeSymbols::StubAt(uint64_t address, int64_t time) const {
  const AddressRange* range = stubs_.Find(address, time);
  return range == nullptr ? std::string_view() : std::string_view(stub_names_[range->payload]);
}

}  // namespace jtrace::postproc
