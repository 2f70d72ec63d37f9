// A second, naive reader of Parquet files, for what jtrace writes: it trusts nothing of the
// writer's code.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace jtrace::testing {

using ParquetValue = std::variant<std::monostate, bool, int64_t, double, std::string>;

struct ParquetColumn {
  std::string name;
  int type = 0;  // as the file calls it
  bool nullable = false;
  bool is_text = false;
  bool has_dictionary = false;
  int data_pages = 0;
  std::optional<int64_t> nulls;
  std::string least;
  std::string greatest;
  std::vector<ParquetValue> values;
};

struct ParquetFile {
  int64_t rows = 0;
  std::map<std::string, std::string> notes;
  std::vector<ParquetColumn> columns;

  const ParquetColumn& operator[](std::string_view name) const;
};

// Throws std::runtime_error if the bytes are not such a file.
ParquetFile ReadParquet(std::string_view bytes);

}  // namespace jtrace::testing
