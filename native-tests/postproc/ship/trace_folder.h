// A folder with files that begin as traces do.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "proto/trace_format.h"

namespace jtrace::testing {

class TraceFolder {
 public:
  explicit TraceFolder(std::string_view name)
      : path_(std::filesystem::path(::testing::TempDir()) / name) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }

  std::string path() const { return path_.string(); }
  std::string File(std::string_view name) const { return (path_ / name).string(); }
  bool Has(std::string_view name) const { return std::filesystem::exists(path_ / name); }
  std::string Text(std::string_view name) const {
    std::ifstream in(path_ / name);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void Write(std::string_view name, std::string_view content, absl::Time modified) const {
    std::ofstream(path_ / name, std::ios::binary) << content;
    const timespec time = absl::ToTimespec(modified);
    const timespec times[] = {time, time};
    utimensat(AT_FDCWD, File(name).c_str(), times, 0);
  }
  // Of that many bytes.
  void WriteTrace(std::string_view name, absl::Time modified, size_t size = 100) const {
    std::string content(format::kMagic.begin(), format::kMagic.end());
    content.resize(size, 'x');
    Write(name, content, modified);
  }

 private:
  std::filesystem::path path_;
};

}  // namespace jtrace::testing
