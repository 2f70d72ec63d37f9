
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "postproc/model/trace_model.h"

namespace jtrace::postproc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(LabelsTest, TextIsSortedByKeyAndReadsBack) {
  const Labels labels = Normalized({{"tenant", "a,b=c\\d"}, {"kind", "query"}});
  const std::string text = LabelText(labels);
  EXPECT_EQ(text, "kind=query,tenant=a\\,b=c\\\\d");
  EXPECT_EQ(ParseLabelText(text), labels);
  EXPECT_EQ(LabelText({}), "");
  EXPECT_THAT(ParseLabelText(""), IsEmpty());
}

// An agent writes no such keys.
TEST(LabelsTest, AnyTextReadsBack) {
  const Labels labels = {{"=,\\k", "="}, {"k", ","}};
  EXPECT_EQ(ParseLabelText(LabelText(labels)), labels);
  EXPECT_THAT(ParseLabelText("a,=b,c=,d=1\\"), ElementsAre(Pair("d", "1\\")));
}

TEST(LabelsTest, EachKeyHasOneValidValue) {
  EXPECT_THAT(Normalized({{"k", "1"}, {"", "x"}, {"k", "2"}, {"z", ""}}),
              ElementsAre(Pair("k", "2")));
  EXPECT_THAT(Normalized({{"k", "1"}, {"k", ""}}), IsEmpty());
  EXPECT_THAT(Normalized({{"k", "\xED\xA0\x80"}}), ElementsAre(Pair("k", "\xEF\xBF\xBD")));
}

TEST(LabelsTest, EqualSetsAreOne) {
  TraceModel model;
  const LabelsId both = model.InternLabels({{"b", "2"}, {"a", "1"}});
  EXPECT_EQ(model.InternLabels({{"a", "1"}, {"b", "2"}}), both);
  EXPECT_NE(model.InternLabels({{"a", "1"}}), both);
  EXPECT_FALSE(model.InternLabels({}));
  EXPECT_EQ(model.labels_count(), 2u);
  EXPECT_EQ(model.LabelsText(both), "a=1,b=2");
}

}  // namespace
}  // namespace jtrace::postproc
