// Tables of random shape, with what they hold.
#pragma once

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "native-tests/support/parquet_reader.h"
#include "postproc/parquet/file.h"

namespace jtrace::testing {

struct RandomTable {
  postproc::parquet::Table table{{}};
  std::vector<std::vector<ParquetValue>> expected;  // by column
};

// All types, with and without nulls; values that repeat, run, or never occur twice.
inline RandomTable MakeRandomTable(uint32_t seed, size_t rows) {
  using postproc::parquet::ColumnSpec;
  using postproc::parquet::Type;
  constexpr Type kTypes[] = {Type::kBoolean, Type::kInt64, Type::kText};
  constexpr std::string_view kNames[] = {"a", "b", "c", "d", "e", "f"};
  std::mt19937_64 random(seed);
  std::vector<ColumnSpec> specs;
  for (size_t i = 0; i < std::size(kNames); ++i) {
    specs.push_back({kNames[i], kTypes[i % std::size(kTypes)], i >= std::size(kTypes)});
  }
  RandomTable made{postproc::parquet::Table(specs), {}};
  for (size_t i = 0; i < specs.size(); ++i) {
    const uint64_t shape = random() % 4;  // one value, few, runs, all different
    uint64_t last = random();
    std::vector<ParquetValue>& expected = made.expected.emplace_back();
    for (size_t row = 0; row < rows; ++row) {
      if (shape == 1) last = random() % 5;
      if (shape == 2 && random() % 20 == 0) last = random() % 1000;
      if (shape == 3) last = random();
      postproc::parquet::Column& column = made.table[i];
      if (specs[i].nullable && random() % 3 == 0) {
        column.AddNull();
        expected.emplace_back();
        continue;
      }
      switch (specs[i].type) {
        case Type::kBoolean:
          column.Add(static_cast<int64_t>(last & 1));
          expected.emplace_back((last & 1) != 0);
          break;
        case Type::kInt64:
          column.Add(static_cast<int64_t>(last));
          expected.emplace_back(static_cast<int64_t>(last));
          break;
        case Type::kText: {
          const std::string text = last % 7 == 0 ? "" : "größe " + std::to_string(last);
          column.AddText(text);
          expected.emplace_back(text);
          break;
        }
      }
    }
  }
  return made;
}

}  // namespace jtrace::testing
