// The one writer of JSON: strings, and values appended to a string, without a tree of objects in
// memory. Pure; any thread, not in signal handlers.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace jtrace {

// `text` as a JSON string, quotes included. Control characters become \uHHHH, and what is not UTF-8
// becomes U+FFFD.
std::string JsonString(std::string_view text);
// The shortest decimal number that reads back as `value`, with a fraction or an exponent; "null" of
// what is not finite.
std::string JsonNumber(double value);

// The caller keeps the grammar: BeginObject and EndObject in pairs, in objects a Key before each
// value. Commas follow from that.
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  void BeginObject() { Open('{'); }
  void EndObject() { Close('}'); }
  void BeginArray() { Open('['); }
  void EndArray() { Close(']'); }
  // A member's name; its value follows.
  void Key(std::string_view key) {
    Separate();
    out_ += JsonString(key);
    out_ += ':';
    first_ = true;
  }

  void Int(int64_t value) {
    Separate();
    char digits[24];
    const auto result = std::to_chars(digits, digits + sizeof digits, value);
    out_.append(digits, static_cast<size_t>(result.ptr - digits));
  }
  void Text(std::string_view text) {
    Separate();
    out_ += JsonString(text);
  }
  void Bool(bool value) {
    Separate();
    out_ += value ? "true" : "false";
  }
  void Null() {
    Separate();
    out_ += "null";
  }
  // Lets the next value begin a line.
  void NewLine() { starts_line_ = true; }

  void Int(std::string_view key, int64_t value) { Key(key), Int(value); }
  void Text(std::string_view key, std::string_view text) { Key(key), Text(text); }
  void Bool(std::string_view key, bool value) { Key(key), Bool(value); }
  // "key":[…] of write(item) for each of them.
  template <typename Items, typename Write>
  void List(std::string_view key, const Items& items, Write write) {
    Key(key);
    BeginArray();
    for (const auto& item : items) write(item);
    EndArray();
  }
  // The same of numbers.
  template <typename Items, typename Get>
  void Column(std::string_view key, const Items& items, Get get) {
    List(key, items, [&](const auto& item) { Int(get(item)); });
  }

 private:
  void Separate() {
    if (!first_) out_ += ',';
    if (starts_line_) out_ += '\n';
    first_ = false;
    starts_line_ = false;
  }
  void Open(char bracket) {
    Separate();
    out_ += bracket;
    first_ = true;
  }
  void Close(char bracket) {
    out_ += bracket;
    first_ = false;
  }

  std::string& out_;
  bool first_ = true;
  bool starts_line_ = false;
};

}  // namespace jtrace
