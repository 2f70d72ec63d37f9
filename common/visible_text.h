// Text that somebody else has chosen (names of classes and threads, command lines, what another
// process answers), made fit for a terminal or for a line of a log. Pure; any thread, not in a
// signal handler.
//
// Strings are UTF-8 that may hold lone surrogates as well, which names in a JVM may, and bytes that
// are no UTF-8 at all.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace jtrace {

struct Character {
  char32_t code = 0;      // of a byte that belongs to no character: the byte
  size_t bytes = 1;       // that it takes
  bool is_valid = false;  // false: a byte that belongs to no character
};

// The first character of `text`, which is not empty. A surrogate is a character of three bytes.
Character FirstCharacter(std::string_view text);
// Whether `text` is the beginning of one character that more bytes would complete.
bool IsCutCharacter(std::string_view text);
void AppendUtf8(std::string& out, char32_t code);

constexpr bool IsHighSurrogate(char32_t code) { return code >= 0xD800 && code < 0xDC00; }
constexpr bool IsLowSurrogate(char32_t code) { return code >= 0xDC00 && code < 0xE000; }
constexpr bool IsSurrogate(char32_t code) { return code >= 0xD800 && code < 0xE000; }

// C0, DEL, C1.
constexpr bool IsControl(char32_t code) { return code < 0x20 || (code >= 0x7F && code < 0xA0); }

// Control characters, separators of lines, and what changes the direction of the text: a terminal
// or an editor does what they say instead of showing them.
constexpr bool IsObeyed(char32_t code) {
  return IsControl(code) || code == 0x061C || (code >= 0x200E && code <= 0x200F) ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x206F) || code == 0xFEFF;
}

// "\x1b" below U+0100, else "\u202e"; `code` is below U+10000.
void AppendEscape(std::string& out, char32_t code);

// `text` as it is where it can be shown. What is obeyed, surrogates and bytes that are no UTF-8
// become \xHH or \uHHHH. One line, whatever `text` holds. A backslash stays: for people, not to be
// read back.
std::string VisibleText(std::string_view text);
// The same where lines end as they do in `text`.
std::string VisibleLines(std::string_view text);

// Modified UTF-8, as a JVM hands names out, as UTF-8: pairs of surrogates become the characters
// that they stand for, C0 80 becomes NUL. Lone surrogates, and what is no UTF-8, stay as they are.
std::string FromModifiedUtf8(std::string text);

}  // namespace jtrace
