#include "agent/calls/classfile/stack_map.h"

#include <gtest/gtest.h>

#include "native-tests/support/class_builder.h"

namespace jtrace::classfile {
namespace {

using test::BytesOf;
using test::ByteVector;
using test::ClassBuilder;

constexpr uint32_t kShift = 10;  // bytes inserted in front of bci 0

// Rewrites the frames of a static method with 200 nops; the token's slot is 5.
class StackMapTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ClassBuilder builder;
    string_class_ = builder.Class("java/lang/String");
    pool_bytes_ = builder.Build();
    ByteReader reader(pool_bytes_);
    reader.Skip(8);
    ASSERT_TRUE(pool_.Parse(pool_bytes_, reader));
    ASSERT_EQ(editor_.Scan(code_), Reason::kNone);
    insertions_ = {{0, true, inserted_}, {50, false, Bytes(inserted_).first(4)}};
    ASSERT_EQ(editor_.Layout(insertions_), Reason::kNone);
  }

  Reason Rewrite(const ByteVector& body, absl::Span<const AddedFrame> added = {}) {
    ConstantPoolBuilder builder(pool_);
    ByteWriter out;
    const Reason reason = StackMapRewriter().Rewrite(body, context_, editor_, added, builder, out);
    const Bytes bytes = out.bytes();
    out_.assign(bytes.begin(), bytes.end());
    return reason;
  }

  ByteVector pool_bytes_;
  ConstantPool pool_;
  ByteVector code_ = ByteVector(200, kOpNop);
  ByteVector inserted_ = ByteVector(kShift, kOpNop);
  std::vector<Insertion> insertions_;
  BytecodeEditor editor_;
  uint16_t string_class_ = 0;
  StackMapContext context_ = {.descriptor = "(IJLjava/lang/String;)V",
                              .is_static = true,
                              .max_locals = 5,
                              .token = TokenKind::kLong};
  ByteVector out_;
};

// A full frame's head and the locals int, long, String, as `context_` has them at the start.
BytesOf FullWithParameters(uint32_t delta, uint32_t locals, uint16_t string_class) {
  BytesOf bytes;
  bytes.U1(255).U2(delta).U2(locals).U1(1).U1(4).U1(7).U2(string_class);
  return bytes;
}

TEST_F(StackMapTest, SameFrames) {
  // same at 3, same at 4, same_frame_extended at 105 (after the insertion at 50).
  ASSERT_EQ(Rewrite(BytesOf().U2(3).U1(3).U1(0).U1(251).U2(100)), Reason::kNone);
  // The first appends a Top and the token: 4 of 5 slots are parameters.
  EXPECT_EQ(out_,
            ByteVector(BytesOf().U2(3).U1(253).U2(3 + kShift).U1(0).U1(4).U1(0).U1(251).U2(104)));
}

TEST_F(StackMapTest, SameFramesChangeFormWithTheirDistance) {
  // 59 + 4 bytes inserted between do not fit same_frame's 63, 59 + 4 - 1 do
  ASSERT_EQ(Rewrite(BytesOf().U2(2).U1(0).U1(60)), Reason::kNone);
  EXPECT_EQ(ByteVector(out_.begin() + 7, out_.end()), ByteVector(BytesOf().U1(251).U2(64)));
  ASSERT_EQ(Rewrite(BytesOf().U2(2).U1(0).U1(59)), Reason::kNone);
  EXPECT_EQ(ByteVector(out_.begin() + 7, out_.end()), ByteVector(BytesOf().U1(63)));
  // and an extended one that has become unnecessary is written short
  ASSERT_EQ(Rewrite(BytesOf().U2(2).U1(0).U1(251).U2(7)), Reason::kNone);
  EXPECT_EQ(ByteVector(out_.begin() + 7, out_.end()), ByteVector(BytesOf().U1(7)));
}

TEST_F(StackMapTest, SameLocalsOneStackItem) {
  // first, short and extended
  ASSERT_EQ(Rewrite(BytesOf().U2(3).U1(64 + 2).U1(1).U1(64 + 1).U1(5).U1(247).U2(100).U1(2)),
            Reason::kNone);
  BytesOf expected;
  expected.U2(3).Add(FullWithParameters(2 + kShift, 5, string_class_)).U1(0).U1(4).U2(1).U1(1);
  expected.U1(65).U1(5).U1(247).U2(104).U1(2);
  EXPECT_EQ(out_, ByteVector(expected));
}

TEST_F(StackMapTest, AppendBecomesFull) {
  ASSERT_EQ(Rewrite(BytesOf().U2(1).U1(252).U2(9).U1(2)), Reason::kNone);
  BytesOf expected;
  expected.U2(1).Add(FullWithParameters(9 + kShift, 5, string_class_)).U1(2).U1(4).U2(0);
  EXPECT_EQ(out_, ByteVector(expected));
}

TEST_F(StackMapTest, ChopBecomesFullWithPadding) {
  ASSERT_EQ(Rewrite(BytesOf().U2(1).U1(249).U2(9)), Reason::kNone);  // chop 2: int is left
  EXPECT_EQ(
      out_,
      ByteVector(
          BytesOf().U2(1).U1(255).U2(9 + kShift).U2(6).U1(1).U1(0).U1(0).U1(0).U1(0).U1(4).U2(0)));
}

TEST_F(StackMapTest, FullKeepsStackAndMovesNew) {
  // locals: Uninitialized(50), double; stack: null, Uninitialized(3)
  ASSERT_EQ(
      Rewrite(BytesOf().U2(1).U1(255).U2(60).U2(2).U1(8).U2(50).U1(3).U2(2).U1(5).U1(8).U2(3)),
      Reason::kNone);
  // `new` at 50 moved after the insertion before it
  EXPECT_EQ(out_, ByteVector(BytesOf()
                                 .U2(1)
                                 .U1(255)
                                 .U2(60 + kShift + 4)
                                 .U2(5)
                                 .U1(8)
                                 .U2(50 + kShift + 4)
                                 .U1(3)
                                 .U1(0)
                                 .U1(0)
                                 .U1(4)
                                 .U2(2)
                                 .U1(5)
                                 .U1(8)
                                 .U2(3 + kShift)));
}

TEST_F(StackMapTest, FrameAtAnInsertionIsBeforeIt) {
  ASSERT_EQ(Rewrite(BytesOf().U2(1).U1(50)), Reason::kNone);
  EXPECT_EQ(LoadU2(out_.data() + 3), 50 + kShift);
}

TEST_F(StackMapTest, InstanceAndConstructorLocals) {
  context_ = {.descriptor = "([ID)V", .this_class = 77, .max_locals = 9, .token = TokenKind::kInt};
  ASSERT_EQ(Rewrite(BytesOf().U2(1).U1(0)), Reason::kNone);
  const auto array_class = static_cast<uint32_t>(pool_.count() + 1);  // [I was not in the pool
  EXPECT_EQ(out_, ByteVector(BytesOf()
                                 .U2(1)
                                 .U1(255)
                                 .U2(kShift)
                                 .U2(3 + 5 + 1)
                                 .U1(7)
                                 .U2(77)
                                 .U1(7)
                                 .U2(array_class)
                                 .U1(3)
                                 .U4(0)
                                 .U1(0)
                                 .U1(1)
                                 .U2(0)));
  context_.is_constructor = true;
  ASSERT_EQ(Rewrite(BytesOf().U2(1).U1(0)), Reason::kNone);
  EXPECT_EQ(out_[7], VerificationType::kUninitializedThis);
}

TEST_F(StackMapTest, HandlerFrameKnowsOnlyTheToken) {
  const AddedFrame handler = {214, {}, {{VerificationType::kObject, 99}}};
  ASSERT_EQ(Rewrite({}, {&handler, 1}), Reason::kNone);
  EXPECT_EQ(out_,
            ByteVector(BytesOf().U2(1).U1(255).U2(214).U2(6).U4(0).U1(0).U1(4).U2(1).U1(7).U2(99)));
}

TEST_F(StackMapTest, AddedFramesKeepTheirLocals) {
  // A long takes two of the method's slots before the token's.
  const AddedFrame frame = {214, {{VerificationType::kLong}}, {}};
  const AddedFrame two = {
      220, frame.locals, {{VerificationType::kInteger}, {VerificationType::kInteger}}};
  // The same locals, and one type on the stack.
  const AddedFrame one = {221, frame.locals, {{VerificationType::kInteger}}};
  ASSERT_EQ(Rewrite({}, std::vector<AddedFrame>{frame, two, one}), Reason::kNone);
  EXPECT_EQ(out_, ByteVector(BytesOf()
                                 .U2(3)
                                 .Add(BytesOf().U1(255).U2(214).U2(5).U1(4).U1(0).U2(0).U1(4).U2(0))
                                 .Add(BytesOf().U1(255).U2(5).U2(5).U1(4).U1(0).U2(0).U1(4))
                                 .Add(BytesOf().U2(2).U1(1).U1(1))
                                 .Add(BytesOf().U1(64).U1(1))));
}

TEST_F(StackMapTest, RejectsMalformedTables) {
  const ByteVector cases[] = {
      BytesOf().U2(1),                                          // no frame
      BytesOf().U2(0).U1(0),                                    // a byte too many
      BytesOf().U2(1).U1(64).U1(9),                             // no such type
      BytesOf().U2(1).U1(251).U2(200),                          // after the code
      BytesOf().U2(1).U1(254).U2(1).U1(1).U1(1).U1(1),          // more locals than max_locals
      BytesOf().U2(2).U1(248).U2(1).U1(248).U2(1),              // chops more than there is
      BytesOf().U2(1).U1(255).U2(1).U2(1).U1(8).U2(200).U2(0),  // `new` after the code
  };
  for (const ByteVector& body : cases) EXPECT_EQ(Rewrite(body), Reason::kMalformedStackMap);
}

TEST_F(StackMapTest, RejectsFramesOfUnknownKinds) {
  for (const uint32_t kind : {128u, 200u, 246u}) {
    EXPECT_EQ(Rewrite(BytesOf().U2(2).U1(1).U1(kind)), Reason::kUnknownFrame) << kind;
  }
}

}  // namespace
}  // namespace jtrace::classfile
