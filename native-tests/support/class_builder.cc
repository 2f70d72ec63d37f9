#include "native-tests/support/class_builder.h"

#include "common/classfile/class_file.h"

namespace jtrace::test {

ClassBuilder::ClassBuilder(std::string name, uint16_t major) : major_(major) {
  this_class_ = Class(name);
  super_class_ = Class("java/lang/Object");
}

uint16_t ClassBuilder::Entry(const ByteVector& bytes) {
  const auto [entry, inserted] = known_.try_emplace(bytes, pool_count_);
  if (inserted) {
    pool_.Append(bytes);
    ++pool_count_;
  }
  return entry->second;
}

uint16_t ClassBuilder::Utf8(const std::string& text) {
  return Entry(
      BytesOf().U1(1).U2(static_cast<uint32_t>(text.size())).Add({text.begin(), text.end()}));
}

uint16_t ClassBuilder::Class(const std::string& name) {
  const uint16_t utf8 = Utf8(name);
  return Entry(BytesOf().U1(7).U2(utf8));
}

uint16_t ClassBuilder::Method(const std::string& owner, const std::string& name,
                              const std::string& descriptor) {
  return Member(10, owner, name, descriptor);
}

uint16_t ClassBuilder::Field(const std::string& owner, const std::string& name,
                             const std::string& descriptor) {
  return Member(9, owner, name, descriptor);
}

uint16_t ClassBuilder::Integer(uint32_t value) { return Entry(BytesOf().U1(3).U4(value)); }

uint16_t ClassBuilder::String(const std::string& text) {
  const uint16_t utf8 = Utf8(text);
  return Entry(BytesOf().U1(8).U2(utf8));
}

ClassBuilder& ClassBuilder::StaticField(const std::string& name, const std::string& descriptor) {
  ++field_count_;
  fields_.U2(classfile::kAccStatic);
  fields_.U2(Utf8(name));
  fields_.U2(Utf8(descriptor));
  fields_.U2(0);
  return *this;
}

uint16_t ClassBuilder::Member(uint8_t tag, const std::string& owner, const std::string& name,
                              const std::string& descriptor) {
  const uint16_t owner_index = Class(owner);
  const uint16_t name_index = Utf8(name);
  const uint16_t descriptor_index = Utf8(descriptor);
  const uint16_t name_and_type = Entry(BytesOf().U1(12).U2(name_index).U2(descriptor_index));
  return Entry(BytesOf().U1(tag).U2(owner_index).U2(name_and_type));
}

void ClassBuilder::PadPool(uint16_t count) {
  for (uint32_t value = 0; pool_count_ < count; ++value) Entry(BytesOf().U1(3).U4(value));
}

ClassBuilder& ClassBuilder::Add(const TestMethod& method) {
  ++method_count_;
  methods_.U2(method.access);
  methods_.U2(Utf8(method.name));
  methods_.U2(Utf8(method.descriptor));
  methods_.U2((method.code.empty() ? 0 : 1) + static_cast<uint32_t>(method.own.size()));
  for (const auto& attribute : method.own) {
    methods_.U2(Utf8(attribute.name));
    methods_.U4(static_cast<uint32_t>(attribute.body.size()));
    methods_.Append(attribute.body);
  }
  if (method.code.empty()) return *this;
  BytesOf body;
  body.U2(method.max_stack).U2(method.max_locals);
  body.U4(static_cast<uint32_t>(method.code.size())).Add(method.code);
  body.U2(static_cast<uint32_t>(method.exceptions.size()));
  for (const auto& row : method.exceptions) {
    body.U2(row.start).U2(row.end).U2(row.handler).U2(row.type);
  }
  body.U2(static_cast<uint32_t>(method.attributes.size()));
  for (const auto& attribute : method.attributes) {
    body.U2(Utf8(attribute.name)).U4(static_cast<uint32_t>(attribute.body.size()));
    body.Add(attribute.body);
  }
  const ByteVector bytes = body;
  methods_.U2(Utf8("Code"));
  methods_.U4(static_cast<uint32_t>(bytes.size()));
  methods_.Append(bytes);
  return *this;
}

ClassBuilder& ClassBuilder::ClassAttribute(const std::string& name, const ByteVector& body) {
  ++attribute_count_;
  attributes_.U2(Utf8(name));
  attributes_.U4(static_cast<uint32_t>(body.size()));
  attributes_.Append(body);
  return *this;
}

ByteVector ClassBuilder::Build() {
  BytesOf out;
  const classfile::Bytes pool = pool_.bytes();
  const classfile::Bytes methods = methods_.bytes();
  out.U4(0xCAFEBABE).U2(major_ == 45 ? 3 : 0).U2(major_);
  out.U2(pool_count_).Add({pool.begin(), pool.end()});
  const classfile::Bytes fields = fields_.bytes();
  out.U2(0x21).U2(this_class_).U2(super_class_).U2(0);
  out.U2(field_count_).Add({fields.begin(), fields.end()});
  out.U2(method_count_).Add({methods.begin(), methods.end()});
  const classfile::Bytes attributes = attributes_.bytes();
  out.U2(attribute_count_).Add({attributes.begin(), attributes.end()});
  return out;
}

ByteVector ClassWith(const TestMethod& method, uint16_t major) {
  return ClassBuilder("T", major).Add(method).Build();
}

}  // namespace jtrace::test
