#include "postproc/parquet/column_chunk.h"

#include <zstd.h>

#include <algorithm>

#include "postproc/parquet/hybrid.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc::parquet {
namespace {

constexpr int kDataPage = 0;
constexpr int kDictionaryPage = 2;
constexpr int kZstd = 6;

void AppendLittle(uint64_t value, int bytes, std::string& out) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}

constexpr int kBytesOfNumber = 8;

// Not for kBoolean, whose values share bytes.
void AppendPlain(const Column& column, uint32_t index, std::string& out) {
  if (column.spec().type == Type::kText) {
    const std::string& text = column.texts()[index];
    AppendLittle(text.size(), 4, out);
    out.append(text);
  } else {
    AppendLittle(column.numbers()[index], kBytesOfNumber, out);
  }
}

size_t PlainSize(const Column& column, absl::Span<const uint32_t> indexes) {
  const bool is_text = column.spec().type == Type::kText;
  if (!is_text) return indexes.size() * kBytesOfNumber;
  size_t size = 0;
  for (const uint32_t index : indexes) size += 4 + column.texts()[index].size();
  return size;
}

// Makes the pages of one column.
class PageWriter {
 public:
  PageWriter(const Column& column, const PageLimits& limits)
      : column_(column),
        limits_(limits),
        type_(column.spec().type),
        distinct_(type_ == Type::kText ? column.texts().size() : column.numbers().size()) {}

  absl::StatusOr<ColumnChunk> Write(bool with_dictionary) {
    const size_t rows = column_.rows();
    chunk_.rows = static_cast<int64_t>(rows);
    chunk_.has_dictionary = with_dictionary;
    if (chunk_.has_dictionary) {
      if (absl::Status status = WriteDictionary(); !status.ok()) return status;
    }
    chunk_.data_offset = static_cast<int64_t>(chunk_.bytes.size());
    // A column without rows has a page, too: some readers expect one.
    for (size_t begin = 0; begin < std::max<size_t>(rows, 1); begin += limits_.rows_in_page) {
      const size_t end = std::min(rows, begin + limits_.rows_in_page);
      const absl::Status status =
          WriteData(absl::MakeConstSpan(column_.indexes()).subspan(begin, end - begin));
      if (!status.ok()) return status;
    }
    FindExtremes();
    return std::move(chunk_);
  }

  // Before compression.
  bool DictionaryIsSmaller() const {
    if (type_ == Type::kBoolean || distinct_ == 0) return false;
    std::vector<uint32_t> each(distinct_);
    for (uint32_t i = 0; i < each.size(); ++i) each[i] = i;
    std::vector<uint32_t> values;
    for (const uint32_t index : column_.indexes()) {
      if (index != Column::kNull) values.push_back(index);
    }
    const size_t packed =
        values.size() * static_cast<size_t>(BitWidth(static_cast<uint32_t>(distinct_ - 1))) / 8;
    return PlainSize(column_, each) + packed < PlainSize(column_, values);
  }

  // Packed indexes of many bits do not compress, while plain numbers that repeat do.
  bool MayBeSmallerPlain() const {
    constexpr size_t kFew = 4096;
    return type_ != Type::kText && distinct_ > kFew;
  }

 private:
  absl::Status WriteDictionary() {
    std::string values;
    for (uint32_t i = 0; i < distinct_; ++i) AppendPlain(column_, i, values);
    return AddPage(kDictionaryPage, 7, values, [&](ThriftWriter& thrift) {
      thrift.Int(1, static_cast<int64_t>(distinct_));
      thrift.Int(2, kEncodingPlain);
    });
  }

  absl::Status WriteData(absl::Span<const uint32_t> indexes) {
    std::string page;
    std::vector<uint32_t> present;
    std::vector<uint32_t> levels;
    for (const uint32_t index : indexes) {
      levels.push_back(index == Column::kNull ? 0 : 1);
      if (index != Column::kNull) present.push_back(index);
    }
    chunk_.nulls += static_cast<int64_t>(indexes.size() - present.size());
    if (column_.spec().nullable) {
      std::string packed;
      AppendHybrid(levels, 1, packed);
      AppendLittle(packed.size(), 4, page);
      page.append(packed);
    }
    AppendValues(present, page);
    return AddPage(kDataPage, 5, page, [&](ThriftWriter& thrift) {
      thrift.Int(1, static_cast<int64_t>(indexes.size()));
      thrift.Int(2, chunk_.has_dictionary ? kEncodingRleDictionary : kEncodingPlain);
      thrift.Int(3, kEncodingRle);
      thrift.Int(4, kEncodingRle);
    });
  }

  void AppendValues(absl::Span<const uint32_t> indexes, std::string& page) const {
    if (chunk_.has_dictionary) {
      const int bits = BitWidth(static_cast<uint32_t>(distinct_ - 1));
      page.push_back(static_cast<char>(bits));
      AppendHybrid(indexes, bits, page);
    } else if (type_ == Type::kBoolean) {
      std::vector<uint32_t> bits;
      for (const uint32_t index : indexes) bits.push_back(column_.numbers()[index] != 0 ? 1 : 0);
      AppendPacked(bits, 1, page);
    } else {
      for (const uint32_t index : indexes) AppendPlain(column_, index, page);
    }
  }

  absl::Status AddPage(int type, int field, const std::string& content,
                       absl::FunctionRef<void(ThriftWriter&)> head) {
    std::string compressed(ZSTD_compressBound(content.size()), '\0');
    const size_t size = ZSTD_compress(compressed.data(), compressed.size(), content.data(),
                                      content.size(), limits_.zstd_level);
    if (ZSTD_isError(size) != 0) {
      return absl::InternalError(StrCat("zstd: ", ZSTD_getErrorName(size)));
    }
    const size_t begin = chunk_.bytes.size();
    ThriftWriter thrift(chunk_.bytes);
    thrift.Int(1, type);
    thrift.Int(2, static_cast<int64_t>(content.size()));
    thrift.Int(3, static_cast<int64_t>(size));
    thrift.Struct(field, [&] { head(thrift); });
    thrift.End();
    chunk_.uncompressed += static_cast<int64_t>(chunk_.bytes.size() - begin + content.size());
    chunk_.bytes.append(compressed, 0, size);
    return absl::OkStatus();
  }

  // Of the distinct values, each of which some row has.
  void FindExtremes() {
    if (type_ == Type::kText || type_ == Type::kBoolean || distinct_ == 0) return;
    const auto less = [](uint64_t a, uint64_t b) {
      return static_cast<int64_t>(a) < static_cast<int64_t>(b);
    };
    const auto [least, greatest] =
        std::minmax_element(column_.numbers().begin(), column_.numbers().end(), less);
    AppendLittle(*least, kBytesOfNumber, chunk_.least);
    AppendLittle(*greatest, kBytesOfNumber, chunk_.greatest);
  }

  const Column& column_;
  const PageLimits& limits_;
  const Type type_;
  const size_t distinct_;
  ColumnChunk chunk_;
};

}  // namespace

int PhysicalType(Type type) {
  switch (type) {
    case Type::kBoolean:
      return 0;
    case Type::kInt64:
      return 2;
    case Type::kText:
      return 6;
  }
  return 6;
}

absl::StatusOr<ColumnChunk> EncodeColumn(const Column& column, const PageLimits& limits) {
  PageWriter writer(column, limits);
  const bool with_dictionary = writer.DictionaryIsSmaller();
  absl::StatusOr<ColumnChunk> chunk = writer.Write(with_dictionary);
  if (!chunk.ok() || !with_dictionary || !writer.MayBeSmallerPlain()) return chunk;
  absl::StatusOr<ColumnChunk> plain = PageWriter(column, limits).Write(false);
  return plain.ok() && plain->bytes.size() < chunk->bytes.size() ? plain : chunk;
}

void ColumnChunk::WriteMetaData(const ColumnSpec& spec, int64_t offset,
                                ThriftWriter& thrift) const {
  thrift.Int(1, PhysicalType(spec.type));
  std::vector<int32_t> encodings = {kEncodingPlain, kEncodingRle};
  if (has_dictionary) encodings.push_back(kEncodingRleDictionary);
  thrift.Ints(2, encodings);
  thrift.Texts(3, {std::string(spec.name)});
  thrift.Int(4, kZstd);
  thrift.Wide(5, rows);
  thrift.Wide(6, uncompressed);
  thrift.Wide(7, static_cast<int64_t>(bytes.size()));
  thrift.Wide(9, offset + data_offset);
  if (has_dictionary) thrift.Wide(11, offset);
  thrift.Struct(12, [&] {
    thrift.Wide(3, nulls);
    if (least.empty()) return;
    thrift.Binary(5, greatest);
    thrift.Binary(6, least);
  });
}

}  // namespace jtrace::postproc::parquet
