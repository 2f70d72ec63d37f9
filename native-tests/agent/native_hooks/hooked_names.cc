// Functions with all kinds of names. Their work does not matter.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#define HOOKED_FUNCTION __attribute__((noinline, used, visibility("default")))

namespace hooked {

enum class Flags : uint8_t { kNone, kSome };

HOOKED_FUNCTION int Wide(unsigned long size, Flags flags) {
  return static_cast<int>(size) + static_cast<int>(flags);
}
HOOKED_FUNCTION std::string Text() { return "a text of more letters than fit into a string"; }
HOOKED_FUNCTION int OfText(const char* text) { return text[0]; }
HOOKED_FUNCTION int OfText(const char* text, int at) { return text[at]; }
HOOKED_FUNCTION int OfMaps(const std::map<std::string, std::vector<std::vector<int>>>& maps) {
  return static_cast<int>(maps.size());
}
HOOKED_FUNCTION int OfFunctions(int (*function)(int, long), const std::function<int(int)>& other) {
  return function(1, 2) + other(3);
}

struct Number {
  int value;
  HOOKED_FUNCTION explicit Number(int v);
  HOOKED_FUNCTION ~Number();
  HOOKED_FUNCTION int operator()(int x) const;
  HOOKED_FUNCTION bool operator<(const Number& other) const;
  HOOKED_FUNCTION Number* operator->();
  HOOKED_FUNCTION Number &operator,(int x);
  HOOKED_FUNCTION Number& operator<<=(int x);
  HOOKED_FUNCTION explicit operator unsigned long() const;
};
Number::Number(int v) : value(v) {}
Number::~Number() { value = 0; }
int Number::operator()(int x) const { return value + x; }
bool Number::operator<(const Number& other) const { return value < other.value; }
Number* Number::operator->() { return this; }
Number &Number::operator,(int x) {
  value += x;
  return *this;
}
Number& Number::operator<<=(int x) {
  value <<= x;
  return *this;
}
Number::operator unsigned long() const { return static_cast<unsigned long>(value); }

HOOKED_FUNCTION int operator<<(Number& number, int x) { return number.value << x; }

template <typename T, int kOf>
HOOKED_FUNCTION T Templated(T x, const std::vector<T>& more) {
  return x + static_cast<T>(more.size()) + kOf;
}
template int Templated<int, 3>(int, const std::vector<int>&);
template unsigned long Templated<unsigned long, 4>(unsigned long,
                                                   const std::vector<unsigned long>&);

namespace {
HOOKED_FUNCTION int Hidden(int x) { return x + 7; }
}  // namespace

HOOKED_FUNCTION int WithLambda(int x) {
  const auto lambda = [x](int y) __attribute__((noinline)) { return x * y + Hidden(y); };
  return lambda(x) + lambda(x + 1);
}

}  // namespace hooked
