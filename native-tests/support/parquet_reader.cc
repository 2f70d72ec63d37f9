#include "native-tests/support/parquet_reader.h"

#include <zstd.h>

#include <cstring>
#include <stdexcept>

namespace jtrace::testing {
namespace {

[[noreturn]] void Fail(const std::string& what) { throw std::runtime_error("parquet: " + what); }

// A value of the compact protocol, whatever its type.
struct Thrift {
  int64_t number = 0;
  std::string bytes;
  std::vector<Thrift> list;
  std::map<int, Thrift> fields;

  bool Has(int field) const { return fields.contains(field); }
  const Thrift& operator[](int field) const {
    const auto found = fields.find(field);
    if (found == fields.end()) Fail("there is no field " + std::to_string(field));
    return found->second;
  }
};

class Input {
 public:
  explicit Input(std::string_view bytes) : rest_(bytes) {}
  bool empty() const { return rest_.empty(); }
  std::string_view Take(size_t size) {
    if (size > rest_.size()) Fail("it ends early");
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  uint8_t Byte() { return static_cast<uint8_t>(Take(1)[0]); }
  uint64_t Varint() {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const uint8_t byte = Byte();
      value |= uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return value;
    }
  }
  uint64_t Little(size_t size) {
    uint64_t value = 0;
    const std::string_view bytes = Take(size);
    for (size_t i = 0; i < size; ++i) {
      value |= uint64_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
    }
    return value;
  }
  int64_t ZigZag() {
    const uint64_t value = Varint();
    return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
  }
  Thrift Struct() {
    Thrift it;
    int field = 0;
    while (true) {
      const uint8_t head = Byte();
      if (head == 0) return it;
      field = (head >> 4) != 0 ? field + (head >> 4) : static_cast<int>(ZigZag());
      it.fields[field] = Value(head & 15);
    }
  }

 private:
  Thrift Value(int type) {
    Thrift it;
    switch (type) {
      case 5:
      case 6:
        it.number = ZigZag();
        return it;
      case 8:
        it.bytes = Take(Varint());
        return it;
      case 9: {
        const uint8_t head = Byte();
        const uint64_t count = (head >> 4) == 15 ? Varint() : head >> 4;
        for (uint64_t i = 0; i < count; ++i) it.list.push_back(Value(head & 15));
        return it;
      }
      case 12:
        return Struct();
      default:
        Fail("type " + std::to_string(type));
    }
  }
  std::string_view rest_;
};

std::vector<uint32_t> Packed(Input& in, size_t count, int bits) {
  std::vector<uint32_t> values;
  uint64_t pending = 0;
  int filled = 0;
  while (values.size() < count) {
    while (filled < bits) {
      pending |= uint64_t{in.Byte()} << filled;
      filled += 8;
    }
    values.push_back(static_cast<uint32_t>(pending & ((uint64_t{1} << bits) - 1)));
    pending >>= bits;
    filled -= bits;
  }
  return values;
}

std::vector<uint32_t> Hybrid(Input& in, size_t count, int bits) {
  std::vector<uint32_t> values;
  while (values.size() < count) {
    const uint64_t head = in.Varint();
    if ((head & 1) != 0) {
      for (const uint32_t it : Packed(in, (head >> 1) * 8, bits)) values.push_back(it);
    } else {
      const auto value = static_cast<uint32_t>(in.Little(static_cast<size_t>(bits + 7) / 8));
      values.insert(values.end(), head >> 1, value);
    }
  }
  values.resize(count);
  return values;
}

ParquetValue Plain(Input& in, const ParquetColumn& column) {
  switch (column.type) {
    case 1:
      return int64_t{static_cast<int32_t>(in.Little(4))};
    case 2:
      return static_cast<int64_t>(in.Little(8));
    case 5: {
      const uint64_t bits = in.Little(8);
      double value = 0;
      std::memcpy(&value, &bits, sizeof value);
      return value;
    }
    case 6:
      return std::string(in.Take(in.Little(4)));
    default:
      Fail("physical type " + std::to_string(column.type));
  }
}

std::string Decompress(std::string_view bytes, size_t size) {
  std::string out(size, '\0');
  const size_t got = ZSTD_decompress(out.data(), size, bytes.data(), bytes.size());
  if (ZSTD_isError(got) != 0 || got != size) Fail("zstd");
  return out;
}

void ReadPage(const Thrift& head, const std::string& content, std::vector<ParquetValue>& dictionary,
              ParquetColumn& column) {
  Input in(content);
  if (head[1].number == 2) {
    column.has_dictionary = true;
    for (int64_t i = 0; i < head[7][1].number; ++i) dictionary.push_back(Plain(in, column));
    if (!in.empty()) Fail("bytes after the dictionary");
    return;
  }
  ++column.data_pages;
  const auto rows = static_cast<size_t>(head[5][1].number);
  std::vector<uint32_t> levels(rows, 1);
  if (column.nullable) {
    Input packed(in.Take(in.Little(4)));
    levels = Hybrid(packed, rows, 1);
  }
  size_t present = 0;
  for (const uint32_t level : levels) present += level;
  std::vector<ParquetValue> values;
  if (head[5][2].number == 8) {
    const int bits = in.Byte();
    for (const uint32_t index : Hybrid(in, present, bits)) values.push_back(dictionary.at(index));
  } else if (column.type == 0) {
    for (const uint32_t bit : Packed(in, present, 1)) values.emplace_back(bit != 0);
  } else {
    for (size_t i = 0; i < present; ++i) values.push_back(Plain(in, column));
  }
  if (!in.empty()) Fail("bytes after the values");
  size_t next = 0;
  for (const uint32_t level : levels) {
    column.values.push_back(level == 0 ? ParquetValue() : values[next++]);
  }
}

void ReadChunk(std::string_view bytes, const Thrift& meta, ParquetColumn& column) {
  if (meta[1].number != column.type || meta[3].list.at(0).bytes != column.name) Fail("metadata");
  const bool has_dictionary = meta.Has(11);
  const auto begin = static_cast<size_t>(meta[has_dictionary ? 11 : 9].number);
  const std::string_view chunk = bytes.substr(begin, static_cast<size_t>(meta[7].number));
  Input in(chunk);
  std::vector<ParquetValue> dictionary;
  while (!in.empty()) {
    const Thrift head = in.Struct();
    const std::string_view page = in.Take(static_cast<size_t>(head[3].number));
    ReadPage(head, Decompress(page, static_cast<size_t>(head[2].number)), dictionary, column);
  }
  if (column.has_dictionary != has_dictionary) Fail("dictionary");
  if (static_cast<int64_t>(column.values.size()) != meta[5].number) Fail("rows of " + column.name);
  const Thrift& statistics = meta[12];
  column.nulls = statistics[3].number;
  if (statistics.Has(5)) column.greatest = statistics[5].bytes;
  if (statistics.Has(6)) column.least = statistics[6].bytes;
}

}  // namespace

const ParquetColumn& ParquetFile::operator[](std::string_view name) const {
  for (const ParquetColumn& column : columns) {
    if (column.name == name) return column;
  }
  Fail("there is no column " + std::string(name));
}

ParquetFile ReadParquet(std::string_view bytes) {
  if (bytes.size() < 12 || !bytes.starts_with("PAR1") || !bytes.ends_with("PAR1")) Fail("magic");
  const size_t size = Input(bytes.substr(bytes.size() - 8)).Little(4);
  if (size + 12 > bytes.size()) Fail("footer");
  const Thrift footer = Input(bytes.substr(bytes.size() - 8 - size, size)).Struct();
  ParquetFile file;
  file.rows = footer[3].number;
  if (footer.Has(5)) {
    for (const Thrift& note : footer[5].list) file.notes[note[1].bytes] = note[2].bytes;
  }
  const std::vector<Thrift>& schema = footer[2].list;
  for (size_t i = 1; i < schema.size(); ++i) {
    ParquetColumn& column = file.columns.emplace_back();
    column.name = schema[i][4].bytes;
    column.type = static_cast<int>(schema[i][1].number);
    column.nullable = schema[i][3].number == 1;
    column.is_text = schema[i].Has(6) && schema[i].Has(10);
  }
  for (const Thrift& group : footer[4].list) {
    if (group[1].list.size() != file.columns.size()) Fail("columns of a row group");
    for (size_t i = 0; i < file.columns.size(); ++i) {
      ReadChunk(bytes, group[1].list[i][3], file.columns[i]);
    }
  }
  return file;
}

}  // namespace jtrace::testing
