// Writes tables in the test's own folder, and reads them back as one table each.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "native-tests/support/parquet_reader.h"
#include "native-tests/support/run_post.h"

namespace jtrace::testing {

using DataRow = std::map<std::string, ParquetValue>;

// A folder of tables.
class Dataset {
 public:
  explicit Dataset(const std::string& name)
      : folder_(std::filesystem::path(::testing::TempDir()) / name) {
    std::filesystem::remove_all(folder_);
  }

  RunResult Convert(const std::map<std::string, std::string>& traces,
                    std::vector<std::string> options = {}) const {
    std::vector<std::string> args = {"--report=parquet", "-o", folder_.string()};
    args.insert(args.end(), options.begin(), options.end());
    for (const auto& [name, bytes] : traces) args.push_back(name);
    return RunPost(args, traces);
  }

  // Below the folder, in order.
  std::vector<std::string> Files(const std::string& table) const {
    std::vector<std::string> files;
    if (!std::filesystem::exists(folder_ / table)) return files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ / table)) {
      if (entry.is_regular_file())
        files.push_back(entry.path().lexically_relative(folder_).string());
    }
    std::sort(files.begin(), files.end());
    return files;
  }

  ParquetFile File(const std::string& file) const {
    std::ifstream in(folder_ / file, std::ios::binary);
    return ReadParquet(std::string{std::istreambuf_iterator<char>(in), {}});
  }

  std::vector<DataRow> Rows(const std::string& table) const {
    std::vector<DataRow> rows;
    for (const std::string& file : Files(table)) {
      const ParquetFile parquet = File(file);
      for (size_t i = 0; i < static_cast<size_t>(parquet.rows); ++i) {
        DataRow& row = rows.emplace_back();
        for (const ParquetColumn& column : parquet.columns) row[column.name] = column.values[i];
      }
    }
    return rows;
  }

 private:
  std::filesystem::path folder_;
};

inline int64_t Number(const DataRow& row, const std::string& column) {
  const ParquetValue& value = row.at(column);
  return std::holds_alternative<int64_t>(value) ? std::get<int64_t>(value) : 0;
}

inline std::string Text(const DataRow& row, const std::string& column) {
  const ParquetValue& value = row.at(column);
  return std::holds_alternative<std::string>(value) ? std::get<std::string>(value) : "<null>";
}

inline bool IsNull(const DataRow& row, const std::string& column) {
  return std::holds_alternative<std::monostate>(row.at(column));
}

// "a.A.run() > a.B.go(int)" of each path, by its id.
inline std::map<std::pair<int64_t, int64_t>, std::string> PathNames(const Dataset& data) {
  std::map<int64_t, std::string> routines;
  for (const DataRow& row : data.Rows("routines"))
    routines[Number(row, "routine_id")] = Text(row, "routine");
  std::map<std::pair<int64_t, int64_t>, std::string> names;
  for (const DataRow& row : data.Rows("paths")) {  // parents are first
    std::string name;
    if (!IsNull(row, "parent_hi")) {
      const std::string& above = names.at({Number(row, "parent_hi"), Number(row, "parent_lo")});
      name = (above.empty() ? "" : above + " > ") + routines.at(Number(row, "routine_id"));
    }
    names[{Number(row, "path_hi"), Number(row, "path_lo")}] = name;
  }
  return names;
}

}  // namespace jtrace::testing
