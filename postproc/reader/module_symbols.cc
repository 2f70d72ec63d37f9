#include "postproc/reader/module_symbols.h"

#include <elf.h>
#include <sys/auxv.h>
#include <zlib.h>

#include <cstring>
#include <utility>

#include "absl/strings/escaping.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

constexpr std::string_view kVdso = "[vdso]";
constexpr std::string_view kSystemFolder = "/usr/lib/debug";

std::string_view Directory(std::string_view path) { return path.substr(0, path.rfind('/')); }
std::string_view Name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// "…/.build-id/ab/cdef.debug"
std::string BuildIdPath(std::string_view folder, std::string_view build_id) {
  const std::string hex =
      absl::BytesToHexString(absl::string_view(build_id.data(), build_id.size()));
  return StrCat(folder, "/.build-id/", hex.substr(0, 2), "/", hex.substr(2), ".debug");
}

uint32_t Crc(std::string_view content) {
  return static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()));
}

}  // namespace

ModuleSymbols::ModuleSymbols(std::string_view path, std::string_view build_id,
                             const std::vector<std::string>& folders) {
  OpenModule(path, build_id, folders);
  if (module_ != nullptr && !module_->symbols.has_all_symbols()) OpenDebugFile(path, folders);
}

std::unique_ptr<ModuleSymbols::File> ModuleSymbols::Read(const std::string& path) {
  absl::StatusOr<InputFile> content = InputFile::OpenRegular(path);
  if (!content.ok()) return nullptr;
  absl::StatusOr<ElfSymbols> symbols = ElfSymbols::Parse(content->content());
  if (!symbols.ok()) return nullptr;
  return std::make_unique<File>(File{*std::move(content), *std::move(symbols)});
}

// The kernel's, which is in no file: this process has the same one if it runs on the same kernel.
std::unique_ptr<ModuleSymbols::File> ModuleSymbols::ReadVdso() {
  const auto* const begin = reinterpret_cast<const char*>(getauxval(AT_SYSINFO_EHDR));
  if (begin == nullptr) return nullptr;
  Elf64_Ehdr header;
  std::memcpy(&header, begin, sizeof header);
  const size_t size = header.e_shoff + size_t{header.e_shnum} * header.e_shentsize;
  InputFile content = InputFile::FromMemory(std::string(begin, size));
  absl::StatusOr<ElfSymbols> symbols = ElfSymbols::Parse(content.content());
  if (!symbols.ok()) return nullptr;
  return std::make_unique<File>(File{std::move(content), *std::move(symbols)});
}

void ModuleSymbols::OpenModule(std::string_view path, std::string_view build_id,
                               const std::vector<std::string>& folders) {
  const auto fits = [&](const File* file) {
    return file != nullptr && (build_id.empty() || file->symbols.build_id() == build_id);
  };
  if (path == kVdso) {
    module_ = ReadVdso();
    if (!fits(module_.get()) || build_id.empty()) module_ = nullptr;
    return;
  }
  if (!path.starts_with("/")) return;
  std::vector<std::string> candidates;
  for (const std::string& folder : folders) {
    candidates.push_back(StrCat(folder, path));
    candidates.push_back(StrCat(folder, "/", Name(path)));
  }
  candidates.emplace_back(path);
  for (const std::string& candidate : candidates) {
    module_ = Read(candidate);
    if (fits(module_.get())) return;
  }
  module_ = nullptr;
}

void ModuleSymbols::OpenDebugFile(std::string_view path, const std::vector<std::string>& folders) {
  const ElfSymbols& stripped = module_->symbols;
  std::vector<std::string> roots = folders;
  roots.emplace_back(kSystemFolder);
  if (!stripped.build_id().empty()) {
    for (const std::string& root : roots) {
      debug_ = Read(BuildIdPath(root, stripped.build_id()));
      if (debug_ != nullptr && debug_->symbols.build_id() == stripped.build_id()) return;
    }
  }
  const std::string_view link = stripped.debug_link();
  debug_ = nullptr;
  if (link.empty() || link.find('/') != std::string_view::npos) return;
  const std::string_view beside = Directory(path);
  std::vector<std::string> candidates = {StrCat(beside, "/", link),
                                         StrCat(beside, "/.debug/", link)};
  for (const std::string& root : roots) {
    candidates.push_back(StrCat(root, beside, "/", link));
    candidates.push_back(StrCat(root, "/", link));
  }
  for (const std::string& candidate : candidates) {
    debug_ = Read(candidate);
    if (debug_ != nullptr && Crc(debug_->content.content()) == stripped.debug_link_crc()) return;
  }
  debug_ = nullptr;
}

std::string_view ModuleSymbols::FindByFileOffset(uint64_t file_offset) const {
  if (module_ == nullptr) return {};
  const std::optional<uint64_t> address = module_->symbols.AddressOf(file_offset);
  if (!address.has_value()) return {};
  if (debug_ != nullptr) {
    const std::string_view name = debug_->symbols.FindByAddress(*address);
    if (!name.empty()) return name;
  }
  return module_->symbols.FindByAddress(*address);
}

}  // namespace jtrace::postproc
