// Makes untrusted text (names of classes and threads, command lines, answers of another process)
// safe for a terminal or for a line of a log. Pure; any thread, not in a signal handler.
//
// Strings are UTF-8 that may also contain lone surrogates, as names in a JVM may, and bytes that
// are not UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace jtrace {

// A character of UTF-8 text.
struct Character {
  char32_t code = 0;      // for a byte that belongs to no character: the byte
  size_t bytes = 1;       // its length
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

// `text`, unchanged where it can be shown. Obeyed characters, surrogates and bytes that are not
// UTF-8 become \xHH or \uHHHH. Always one line. A backslash stays: for people, not for reading
// back.
std::string VisibleText(std::string_view text);
// The same, but keeps the line ends of `text`.
std::string VisibleLines(std::string_view text);

// Converts modified UTF-8, the JVM's encoding of names, to UTF-8: pairs of surrogates become the
// characters that they encode, C0 80 becomes NUL. Lone surrogates, and bytes that are not UTF-8,
// are unchanged.
std::string FromModifiedUtf8(std::string text);
// The reverse, for JNI's NewStringUTF. What already is modified UTF-8 is unchanged.
std::string ToModifiedUtf8(std::string_view text);

}  // namespace jtrace
