// Writes random tables for other readers: DIR/SEED.parquet, and DIR/SEED.json with the values by
// column, those of doubles as text with all digits. The tier `fleet` compares.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include "native-tests/postproc/parquet/random_table.h"

namespace jtrace::testing {
namespace {

std::string Json(const ParquetValue& value) {
  struct Shown {
    std::string operator()(std::monostate) const { return "null"; }
    std::string operator()(bool it) const { return it ? "true" : "false"; }
    std::string operator()(int64_t it) const { return std::to_string(it); }
    std::string operator()(double it) const {
      char text[40];
      std::snprintf(text, sizeof text, "%.17g", it);
      return text;
    }
    std::string operator()(const std::string& it) const { return '"' + it + '"'; }
  };
  return std::visit(Shown(), value);
}

bool WriteOne(const std::string& stem, uint32_t seed) {
  const RandomTable random = MakeRandomTable(seed, seed * 37);
  postproc::parquet::PageLimits limits;
  limits.rows_in_page = 100 * seed;
  const auto bytes = EncodeFile(random.table, {}, "jtrace's tests", limits);
  if (!bytes.ok()) return false;
  std::ofstream(stem + ".parquet", std::ios::binary) << *bytes;
  std::ofstream json(stem + ".json");
  json << '{';
  for (size_t i = 0; i < random.expected.size(); ++i) {
    json << (i == 0 ? "\"" : ",\"") << random.table.columns()[i].spec().name << "\":[";
    for (size_t row = 0; row < random.expected[i].size(); ++row) {
      json << (row == 0 ? "" : ",") << Json(random.expected[i][row]);
    }
    json << ']';
  }
  json << "}\n";
  return json.good();
}

}  // namespace
}  // namespace jtrace::testing

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: parquet_samples DIR COUNT\n";
    return 2;
  }
  for (uint32_t seed = 1; seed <= static_cast<uint32_t>(std::atoi(argv[2])); ++seed) {
    if (!jtrace::testing::WriteOne(std::string(argv[1]) + "/" + std::to_string(seed), seed))
      return 1;
  }
  return 0;
}
