#include "postproc/cli/own_files.h"

#include <filesystem>
#include <initializer_list>
#include <system_error>

namespace jtrace::control {
namespace {

// Empty: not known, as without /proc.
std::filesystem::path OwnFolder() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

// The first of the places that is there, or "". Relative to an unknown folder they would be in the
// user's current one, where anybody may have put a library.
std::string FindBelow(const std::filesystem::path& folder,
                      std::initializer_list<const char*> places) {
  if (folder.empty()) return "";
  for (const char* place : places) {
    std::error_code error;
    const auto path = std::filesystem::weakly_canonical(folder / place, error);
    if (!error && std::filesystem::exists(path, error)) return path.string();
  }
  return "";
}

}  // namespace

std::string FindLibraryBeside(const std::filesystem::path& folder) {
  return FindBelow(folder, {"../lib/libjtrace.so", "../lib64/libjtrace.so",
                            "../lib/x86_64-linux-gnu/libjtrace.so",
                            "../lib/aarch64-linux-gnu/libjtrace.so", "libjtrace.so"});
}

std::string FindDuckDbBeside(const std::filesystem::path& folder) {
  return FindBelow(folder, {"../lib/jtrace/libduckdb.so", "../lib64/jtrace/libduckdb.so",
                            "../lib/x86_64-linux-gnu/jtrace/libduckdb.so",
                            "../lib/aarch64-linux-gnu/jtrace/libduckdb.so"});
}

std::string FindOwnLibrary() { return FindLibraryBeside(OwnFolder()); }

std::string FindOwnDuckDb() { return FindDuckDbBeside(OwnFolder()); }

std::string OwnLibraryFolder() {
  const std::filesystem::path own = OwnFolder();
  if (own.empty()) return "";
  std::error_code error;
  const auto path = std::filesystem::weakly_canonical(own / "../lib/jtrace", error);
  return !error && std::filesystem::is_directory(path, error) ? path.string() : "";
}

std::string OwnPostProcessor() { return (OwnFolder() / "jtrace-post").string(); }

}  // namespace jtrace::control
