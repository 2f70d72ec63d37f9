#include "agent/classfile/code_tables.h"

#include "common/classfile/annotations.h"

namespace jtrace::classfile {
namespace {

// target_type values, JVMS 4.7.20, table 4.7.20-B: those that occur in a Code attribute.
constexpr uint8_t kTargetLocalVariable = 0x40;
constexpr uint8_t kTargetResourceVariable = 0x41;
constexpr uint8_t kTargetCatch = 0x42;
constexpr uint8_t kTargetInstanceof = 0x43;
constexpr uint8_t kTargetMethodReference = 0x46;
constexpr uint8_t kTargetCast = 0x47;
constexpr uint8_t kTargetReferenceTypeArgument = 0x4B;

// Copies a table and moves positions in the copy: no table changes its size.
class Relocator {
 public:
  Relocator(Bytes body, const CodeEditor& editor, ByteWriter& out)
      : reader_(body), editor_(editor), out_(out), base_(out.size()) {
    out.Append(body);
  }

  bool LineNumbers() {
    for (int n = reader_.U2(); n > 0 && ok(); --n) {
      Start();
      reader_.Skip(2);  // line_number
    }
    return Done();
  }

  bool LocalVariables() {
    for (int n = reader_.U2(); n > 0 && ok(); --n) {
      Range();
      reader_.Skip(6);  // name, descriptor or signature, and slot
    }
    return Done();
  }

  bool TypeAnnotations() {
    for (int n = reader_.U2(); n > 0 && ok(); --n) {
      Target();
      reader_.Skip(size_t{2} * reader_.U1());  // type_path
      SkipAnnotation(reader_, good_);
    }
    return Done();
  }

 private:
  bool ok() const { return good_ && reader_.ok(); }
  bool Done() const { return ok() && reader_.AtEnd(); }

  void Patch(size_t at, uint32_t place) {
    if (place > kMaxU2) {
      good_ = false;
    } else {
      out_.PatchU2(base_ + at, place);
    }
  }

  uint32_t StartPlace(uint16_t bci) const { return bci == 0 ? 0 : editor_.PlaceOf(bci); }

  void Start() {
    const size_t at = reader_.position();
    const uint16_t bci = reader_.U2();
    if (ok()) Patch(at, StartPlace(bci));
  }

  void Range() {
    const size_t at = reader_.position();
    const uint16_t start = reader_.U2();
    const uint16_t length = reader_.U2();
    if (!ok()) return;
    const uint32_t first = StartPlace(start);
    const uint32_t last = editor_.PlaceOf(uint32_t{start} + length);
    if (last == CodeEditor::kNowhere) {
      good_ = false;
      return;
    }
    Patch(at, first);
    Patch(at + 2, length == 0 ? 0 : last - first);
  }

  void Instruction() {
    const size_t at = reader_.position();
    const uint16_t bci = reader_.U2();
    if (ok()) Patch(at, editor_.Moved(bci));
  }

  void Target() {
    const uint8_t type = reader_.U1();
    if (type == kTargetLocalVariable || type == kTargetResourceVariable) {
      for (int n = reader_.U2(); n > 0 && ok(); --n) {
        Range();
        reader_.Skip(2);  // slot
      }
    } else if (type == kTargetCatch) {
      reader_.Skip(2);  // a row of the exception table: new rows are only added after it
    } else if (type >= kTargetInstanceof && type <= kTargetMethodReference) {
      Instruction();
    } else if (type >= kTargetCast && type <= kTargetReferenceTypeArgument) {
      Instruction();
      reader_.Skip(1);  // type_argument_index
    } else {
      good_ = false;
    }
  }

  ByteReader reader_;
  const CodeEditor& editor_;
  ByteWriter& out_;
  const size_t base_;
  bool good_ = true;
};

}  // namespace

bool RelocateTable(CodeTable table, Bytes body, const CodeEditor& editor, ByteWriter& out) {
  Relocator relocator(body, editor, out);
  switch (table) {
    case CodeTable::kLineNumbers:
      return relocator.LineNumbers();
    case CodeTable::kLocalVariables:
      return relocator.LocalVariables();
    case CodeTable::kTypeAnnotations:
      return relocator.TypeAnnotations();
    default:
      return false;
  }
}

}  // namespace jtrace::classfile
