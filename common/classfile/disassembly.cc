#include "common/classfile/disassembly.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "common/classfile/opcodes.h"

namespace jtrace::classfile {
namespace {

// By opcode (JVMS 6.5).
constexpr std::string_view kMnemonics[] = {
    "nop",           "aconst_null",  "iconst_m1",
    "iconst_0",      "iconst_1",     "iconst_2",
    "iconst_3",      "iconst_4",     "iconst_5",
    "lconst_0",      "lconst_1",     "fconst_0",
    "fconst_1",      "fconst_2",     "dconst_0",
    "dconst_1",      "bipush",       "sipush",
    "ldc",           "ldc_w",        "ldc2_w",
    "iload",         "lload",        "fload",
    "dload",         "aload",        "iload_0",
    "iload_1",       "iload_2",      "iload_3",
    "lload_0",       "lload_1",      "lload_2",
    "lload_3",       "fload_0",      "fload_1",
    "fload_2",       "fload_3",      "dload_0",
    "dload_1",       "dload_2",      "dload_3",
    "aload_0",       "aload_1",      "aload_2",
    "aload_3",       "iaload",       "laload",
    "faload",        "daload",       "aaload",
    "baload",        "caload",       "saload",
    "istore",        "lstore",       "fstore",
    "dstore",        "astore",       "istore_0",
    "istore_1",      "istore_2",     "istore_3",
    "lstore_0",      "lstore_1",     "lstore_2",
    "lstore_3",      "fstore_0",     "fstore_1",
    "fstore_2",      "fstore_3",     "dstore_0",
    "dstore_1",      "dstore_2",     "dstore_3",
    "astore_0",      "astore_1",     "astore_2",
    "astore_3",      "iastore",      "lastore",
    "fastore",       "dastore",      "aastore",
    "bastore",       "castore",      "sastore",
    "pop",           "pop2",         "dup",
    "dup_x1",        "dup_x2",       "dup2",
    "dup2_x1",       "dup2_x2",      "swap",
    "iadd",          "ladd",         "fadd",
    "dadd",          "isub",         "lsub",
    "fsub",          "dsub",         "imul",
    "lmul",          "fmul",         "dmul",
    "idiv",          "ldiv",         "fdiv",
    "ddiv",          "irem",         "lrem",
    "frem",          "drem",         "ineg",
    "lneg",          "fneg",         "dneg",
    "ishl",          "lshl",         "ishr",
    "lshr",          "iushr",        "lushr",
    "iand",          "land",         "ior",
    "lor",           "ixor",         "lxor",
    "iinc",          "i2l",          "i2f",
    "i2d",           "l2i",          "l2f",
    "l2d",           "f2i",          "f2l",
    "f2d",           "d2i",          "d2l",
    "d2f",           "i2b",          "i2c",
    "i2s",           "lcmp",         "fcmpl",
    "fcmpg",         "dcmpl",        "dcmpg",
    "ifeq",          "ifne",         "iflt",
    "ifge",          "ifgt",         "ifle",
    "if_icmpeq",     "if_icmpne",    "if_icmplt",
    "if_icmpge",     "if_icmpgt",    "if_icmple",
    "if_acmpeq",     "if_acmpne",    "goto",
    "jsr",           "ret",          "tableswitch",
    "lookupswitch",  "ireturn",      "lreturn",
    "freturn",       "dreturn",      "areturn",
    "return",        "getstatic",    "putstatic",
    "getfield",      "putfield",     "invokevirtual",
    "invokespecial", "invokestatic", "invokeinterface",
    "invokedynamic", "new",          "newarray",
    "anewarray",     "arraylength",  "athrow",
    "checkcast",     "instanceof",   "monitorenter",
    "monitorexit",   "wide",         "multianewarray",
    "ifnull",        "ifnonnull",    "goto_w",
    "jsr_w",
};

// By the operand of newarray, from 4 on (JVMS table 6.5.newarray-A).
constexpr std::string_view kArrayTypes[] = {"boolean", "char",  "float", "double",
                                            "byte",    "short", "int",   "long"};
constexpr uint8_t kFirstArrayType = 4;

// Control characters, quotes and backslashes as in Java. Modified UTF-8: NUL is C0 80, and the
// control characters from U+0080 on are C2 80 to C2 9F.
void AppendEscaped(std::string_view text, std::string& out) {
  constexpr char kHex[] = "0123456789abcdef";
  constexpr std::string_view kPlain = "\t\n\r\b\f\"'\\";
  constexpr std::string_view kLetters = "tnrbf\"'\\";
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = [&](size_t at) { return static_cast<unsigned char>(text[at]); };
    unsigned code = byte(i);
    const bool has_next = i + 1 < text.size() && byte(i + 1) >= 0x80 && byte(i + 1) < 0xa0;
    const bool is_nul = code == 0xc0 && has_next && byte(i + 1) == 0x80;
    const bool is_two = is_nul || (code == 0xc2 && has_next);
    if (is_two) code = is_nul ? 0 : byte(++i);
    if (is_nul) ++i;
    if (const size_t at = kPlain.find(text[i]); !is_two && at != std::string_view::npos) {
      out += '\\';
      out += kLetters[at];
    } else if (is_two || code < 0x20 || code == 0x7f) {
      out += "\\u00";
      out += kHex[code >> 4];
      out += kHex[code & 15];
    } else {
      out += text[i];
    }
  }
}

bool IsNamePart(char c) {
  const auto code = static_cast<unsigned char>(c);
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || code >= 0x80;
}

// A name of a class or member; in quotes where it cannot be one in Java: "<init>", "[I".
std::string Name(std::string_view name) {
  char before = '/';
  bool plain = !name.empty();
  for (const char c : name) {
    const bool begins = before == '/' && (!IsNamePart(c) || (c >= '0' && c <= '9'));
    plain = plain && !begins && (c == '/' || IsNamePart(c));
    before = c;
  }
  if (plain) return std::string(name);
  std::string quoted = "\"";
  AppendEscaped(name, quoted);
  return quoted += '"';
}

// As Java writes floating-point numbers: "1.0", "1.0E10", "3.4028235E38", "NaN".
template <typename Float>
std::string JavaNumber(Float value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  const Float size = std::fabs(value);
  const bool plain = size == 0 || (size >= Float{1e-3} && size < Float{1e7});
  std::array<char, 400> buffer{};
  char* const begin = buffer.data();
  char* const limit = begin + buffer.size();
  if (plain) {
    const auto fixed = std::to_chars(begin, limit, value, std::chars_format::fixed);
    const std::string text(begin, fixed.ptr);
    return text.find('.') == std::string::npos ? text + ".0" : text;
  }
  auto result = std::to_chars(begin, limit, value, std::chars_format::scientific);
  // Java has two digits at least, and these are the nearest: 4.9E-324, not 5.0E-324.
  if (std::string_view(begin, result.ptr).find('.') == std::string_view::npos) {
    result = std::to_chars(begin, limit, value, std::chars_format::scientific, 1);
  }
  // "1.0e+20" to "1.0E20"
  const std::string text(begin, result.ptr);
  const size_t e = text.find('e');
  return text.substr(0, e) + "E" + std::to_string(std::atoi(text.c_str() + e + 1));
}

uint64_t LoadU8(const uint8_t* p) { return uint64_t{LoadU4(p)} << 32 | LoadU4(p + 4); }

template <typename Float, typename Bits>
std::string NumberOfBits(Bits bits) {
  static_assert(sizeof(Float) == sizeof(Bits));
  Float value;
  std::memcpy(&value, &bits, sizeof value);
  return JavaNumber(value);
}

// "java/lang/Object.\"<init>\":()V"; without the class where it is the class itself.
std::string MemberText(const ClassFile& file, uint16_t index) {
  const ConstantPool::Raw raw = file.pool.At(index);
  const auto owner = file.pool.ClassName(LoadU2(raw.payload.data()));
  const auto member = file.pool.NameAndTypeOf(index);
  if (!owner || !member) return "?";
  std::string text = *owner == file.this_name ? "" : Name(*owner) + ".";
  text += Name(member->name);
  text += ':';
  return text += member->descriptor;
}

// "#0:run:()Ljava/lang/Runnable;": the bootstrap method, name and type.
std::string DynamicText(const ClassFile& file, uint16_t index) {
  const ConstantPool::Raw raw = file.pool.At(index);
  const auto member = file.pool.NameAndTypeOf(index);
  if (!member) return "?";
  std::string text = "#" + std::to_string(LoadU2(raw.payload.data())) + ":";
  text += Name(member->name);
  text += ':';
  return text += member->descriptor;
}

std::string HandleText(const ClassFile& file, Bytes payload) {
  // JVMS table 4.3.5 (5.4.3.5-A).
  constexpr std::string_view kKinds[] = {"?",
                                         "REF_getField",
                                         "REF_getStatic",
                                         "REF_putField",
                                         "REF_putStatic",
                                         "REF_invokeVirtual",
                                         "REF_invokeStatic",
                                         "REF_invokeSpecial",
                                         "REF_newInvokeSpecial",
                                         "REF_invokeInterface"};
  const uint8_t kind = payload[0];
  std::string text(kKinds[kind < std::size(kKinds) ? kind : 0]);
  const uint16_t member = LoadU2(payload.data() + 1);
  const ConstantTag tag = file.pool.At(member).tag;
  const bool is_member = tag == ConstantTag::kFieldref || tag == ConstantTag::kMethodref ||
                         tag == ConstantTag::kInterfaceMethodref;
  text += ' ';
  return text += is_member ? MemberText(file, member) : "?";
}

std::string ConstantText(const ClassFile& file, uint16_t index) {
  const ConstantPool::Raw raw = file.pool.At(index);
  const uint8_t* p = raw.payload.data();
  const auto utf8 = [&](uint16_t at) { return file.pool.Utf8(at).value_or("?"); };
  switch (raw.tag) {
    case ConstantTag::kInteger:
      return "int " + std::to_string(static_cast<int32_t>(LoadU4(p)));
    case ConstantTag::kFloat:
      return "float " + NumberOfBits<float>(LoadU4(p)) + "f";
    case ConstantTag::kLong:
      return "long " + std::to_string(static_cast<int64_t>(LoadU8(p))) + "l";
    case ConstantTag::kDouble:
      return "double " + NumberOfBits<double>(LoadU8(p)) + "d";
    case ConstantTag::kClass:
      return "class " + Name(utf8(LoadU2(p)));
    case ConstantTag::kString: {
      std::string text = "String ";
      AppendEscaped(utf8(LoadU2(p)), text);
      return text;
    }
    case ConstantTag::kFieldref:
      return "Field " + MemberText(file, index);
    case ConstantTag::kMethodref:
      return "Method " + MemberText(file, index);
    case ConstantTag::kInterfaceMethodref:
      return "InterfaceMethod " + MemberText(file, index);
    case ConstantTag::kMethodHandle:
      return "MethodHandle " + HandleText(file, raw.payload);
    case ConstantTag::kMethodType:
      return "MethodType " + std::string(utf8(LoadU2(p)));
    case ConstantTag::kDynamic:
      return "Dynamic " + DynamicText(file, index);
    case ConstantTag::kInvokeDynamic:
      return "InvokeDynamic " + DynamicText(file, index);
    default:
      return "?";
  }
}

std::string JumpTarget(size_t at, int32_t offset) {
  return std::to_string(static_cast<int64_t>(at) + offset);
}

std::string SwitchText(Bytes code, size_t at) {
  const SwitchTable table = ParseSwitch(code, at);
  const auto word = [&](size_t position) {
    return static_cast<int32_t>(LoadU4(code.data() + position));
  };
  std::string text;
  for (size_t i = 0; i < table.count; ++i) {
    const size_t offset = table.first + i * table.stride;
    const int64_t key = code[at] == kOpTableswitch
                            ? int64_t{word(table.operands + 4)} + static_cast<int64_t>(i)
                            : word(offset - 4);
    text += std::to_string(key) + ": " + JumpTarget(at, word(offset)) + ", ";
  }
  return text + "default: " + JumpTarget(at, word(table.operands));
}

std::string WideText(Bytes code, size_t at) {
  const uint8_t* p = code.data() + at;
  std::string text = std::to_string(LoadU2(p + 2));
  if (p[1] == kOpIinc) text += ", " + std::to_string(static_cast<int16_t>(LoadU2(p + 4)));
  return text;
}

// Instructions whose operands begin with an index of the constant pool.
std::string WithConstant(const ClassFile& file, const uint8_t* p) {
  if (*p == kOpLdc) return ConstantText(file, p[1]);
  std::string text = ConstantText(file, LoadU2(p + 1));
  // The dimensions, and the size of the arguments.
  if (*p == kOpMultianewarray) text += ", " + std::to_string(p[3]);
  return text;
}

}  // namespace

std::string Mnemonic(Bytes code, size_t at) {
  const uint8_t opcode = code[at];
  if (opcode >= std::size(kMnemonics)) return "?";
  if (opcode != kOpWide) return std::string(kMnemonics[opcode]);
  return std::string(kMnemonics[code[at + 1]]) + "_w";
}

std::string OperandText(const ClassFile& file, Bytes code, size_t at) {
  const uint8_t* p = code.data() + at;
  const uint8_t opcode = *p;
  switch (KindOf(opcode)) {
    case OperandKind::kBranch16:
      return JumpTarget(at, static_cast<int16_t>(LoadU2(p + 1)));
    case OperandKind::kBranch32:
      return JumpTarget(at, static_cast<int32_t>(LoadU4(p + 1)));
    case OperandKind::kSwitch:
      return SwitchText(code, at);
    case OperandKind::kWide:
      return WideText(code, at);
    default:
      break;
  }
  const bool has_constant = (opcode >= kOpLdc && opcode <= kOpLdc2W) ||
                            (opcode >= kOpGetstatic && opcode <= kOpNew) ||
                            opcode == kOpAnewarray || opcode == kOpCheckcast ||
                            opcode == kOpInstanceof || opcode == kOpMultianewarray;
  if (has_constant) return WithConstant(file, p);
  if (opcode == kOpNewarray) {
    const size_t type = size_t{p[1]} - kFirstArrayType;
    return type < std::size(kArrayTypes) ? std::string(kArrayTypes[type]) : "?";
  }
  if (opcode == kOpIinc) {
    return std::to_string(p[1]) + ", " + std::to_string(static_cast<int8_t>(p[2]));
  }
  const size_t length = InstructionLength(code, at);
  if (opcode == kOpSipush) return std::to_string(static_cast<int16_t>(LoadU2(p + 1)));
  if (length != 2) return "";
  const bool is_signed = opcode < kOpSipush;  // bipush
  return std::to_string(is_signed ? static_cast<int8_t>(p[1]) : int{p[1]});
}

}  // namespace jtrace::classfile
