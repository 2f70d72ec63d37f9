#include "common/json_writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "common/utf8.h"

namespace jtrace {
namespace {

// A parser of others is the judge: any bytes at all become valid JSON.
TEST(JsonWriterTest, AnyBytesBecomeAValidString) {
  std::minstd_rand random(1);
  for (int i = 0; i < 5000; ++i) {
    std::string bytes;
    for (unsigned n = random() % 12; n > 0; --n) bytes += static_cast<char>(random() >> 3);
    const nlohmann::json parsed = nlohmann::json::parse(JsonString(bytes));
    EXPECT_EQ(parsed.get<std::string>(), ValidUtf8(bytes));
  }
}

TEST(JsonWriterTest, NumbersReadBackAsTheyWere) {
  std::minstd_rand random(2);
  std::vector<double> values = {0, 1, -1, 0.1, 100, 99.83, 1e300, 5e-324, 1.0 / 3};
  for (int i = 0; i < 5000; ++i) values.push_back(std::ldexp(random() - 1e9, random() % 100 - 50));
  for (const double value : values) {
    const nlohmann::json parsed = nlohmann::json::parse(JsonNumber(value));
    EXPECT_TRUE(parsed.is_number_float()) << JsonNumber(value);
    EXPECT_EQ(parsed.get<double>(), value);
  }
  EXPECT_EQ(JsonNumber(NAN), "null");
  EXPECT_EQ(JsonNumber(INFINITY), "null");
}

TEST(JsonWriterTest, ValuesAreSeparatedByCommas) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  json.Int("a", -1);
  json.List("b", std::vector<int>{1, 2, 3}, [&](int value) {
    json.NewLine();
    json.Int(value);
  });
  json.Key("c");
  json.BeginArray();
  json.EndArray();
  json.Bool("d", true);
  json.Key("e");
  json.Null();
  json.Text("f\"", "g");
  json.EndObject();
  EXPECT_EQ(out, "{\"a\":-1,\"b\":[\n1,\n2,\n3],\"c\":[],\"d\":true,\"e\":null,\"f\\\"\":\"g\"}");
}

}  // namespace
}  // namespace jtrace
