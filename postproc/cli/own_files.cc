#include "postproc/cli/own_files.h"

#include <filesystem>

namespace jtrace::control {
namespace {

std::filesystem::path OwnFolder() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

}  // namespace

std::string FindOwnLibrary() {
  std::error_code error;
  for (const char* place :
       {"../lib/libjtrace.so", "../lib64/libjtrace.so", "../lib/x86_64-linux-gnu/libjtrace.so",
        "../lib/aarch64-linux-gnu/libjtrace.so", "libjtrace.so"}) {
    const auto path = std::filesystem::weakly_canonical(OwnFolder() / place, error);
    if (!error && std::filesystem::exists(path, error)) return path.string();
  }
  return "";
}

std::string FindOwnDuckDb() {
  std::error_code error;
  for (const char* place : {"../lib/jtrace/libduckdb.so", "../lib64/jtrace/libduckdb.so",
                            "../lib/x86_64-linux-gnu/jtrace/libduckdb.so",
                            "../lib/aarch64-linux-gnu/jtrace/libduckdb.so"}) {
    const auto path = std::filesystem::weakly_canonical(OwnFolder() / place, error);
    if (!error && std::filesystem::exists(path, error)) return path.string();
  }
  return "";
}

std::string OwnLibraryFolder() {
  std::error_code error;
  const auto path = std::filesystem::weakly_canonical(OwnFolder() / "../lib/jtrace", error);
  return !error && std::filesystem::is_directory(path, error) ? path.string() : "";
}

std::string OwnPostProcessor() { return (OwnFolder() / "jtrace-post").string(); }

}  // namespace jtrace::control
