#include "agent/trace/label_sets.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace jtrace::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(LabelSetsTest, EqualSetsHaveOneNumberInWhateverOrder) {
  LabelSets sets;
  const uint32_t acme = sets.With(0, "tenant", "acme");
  const uint32_t both = sets.With(acme, "kind", "query");
  EXPECT_NE(acme, both);
  EXPECT_EQ(sets.With(sets.With(0, "kind", "query"), "tenant", "acme"), both);
  EXPECT_EQ(sets.With(0, "tenant", "acme"), acme);
  EXPECT_THAT(*sets.Find(both), ElementsAre(Pair("kind", "query"), Pair("tenant", "acme")));
}

TEST(LabelSetsTest, TheSameKeyIsReplacedAndOthersStay) {
  LabelSets sets;
  const uint32_t both = sets.With(sets.With(0, "tenant", "acme"), "kind", "query");
  EXPECT_THAT(*sets.Find(sets.With(both, "tenant", "other")),
              ElementsAre(Pair("kind", "query"), Pair("tenant", "other")));
  EXPECT_EQ(sets.With(both, "tenant", "acme"), both);
  EXPECT_THAT(*sets.Find(sets.With(both, "tenant", "")), ElementsAre(Pair("kind", "query")));
  EXPECT_EQ(sets.With(sets.With(0, "tenant", "acme"), "tenant", ""), samples::kNoLabels);
  EXPECT_EQ(sets.With(0, "tenant", ""), samples::kNoLabels);
}

TEST(LabelSetsTest, BeyondTheLimitNewSetsAreUnknownAndKnownOnesStay) {
  LabelSets sets(3);
  const uint32_t first = sets.With(0, "k", "0");
  sets.With(0, "k", "1");
  const uint32_t last = sets.With(0, "k", "2");
  EXPECT_EQ(sets.With(0, "k", "3"), samples::kUnknownLabels);
  EXPECT_EQ(sets.With(last, "k", "0"), first);
  EXPECT_EQ(sets.Find(samples::kUnknownLabels), nullptr);
  EXPECT_EQ(sets.Find(samples::kNoLabels), nullptr);
  // What is inside of unknown labels is unknown.
  EXPECT_EQ(sets.With(samples::kUnknownLabels, "k", "0"), samples::kUnknownLabels);
}

TEST(LabelSetsTest, NumbersFitIntoTheWordsOfThreads) {
  static_assert(samples::kMaxLabelSets < samples::kUnknownLabels);
  LabelSets sets;
  for (uint32_t i = 1; i <= samples::kMaxLabelSets; ++i) {
    ASSERT_EQ(sets.With(0, "k", absl::StrCat(i)), i);
  }
  EXPECT_EQ(sets.With(0, "k", "one more"), samples::kUnknownLabels);
}

TEST(LabelSetsTest, SetsAndKeysAreBounded) {
  LabelSets sets;
  uint32_t set = 0;
  for (size_t i = 0; i < LabelSets::kMaxLabels; ++i) {
    set = sets.With(set, absl::StrCat("k", i), "v");
  }
  EXPECT_EQ(sets.Find(set)->size(), LabelSets::kMaxLabels);
  EXPECT_EQ(sets.With(set, "another", "v"), samples::kUnknownLabels);
  EXPECT_EQ(sets.With(0, "", "v"), samples::kUnknownLabels);
  EXPECT_EQ(sets.With(0, std::string(LabelSets::kMaxKeyBytes + 1, 'k'), "v"),
            samples::kUnknownLabels);
}

TEST(LabelSetsTest, LongValuesAreCutBetweenCharacters) {
  LabelSets sets;
  const auto kept = [&](const std::string& value) {
    return sets.Find(sets.With(0, "k", value))->front().second;
  };
  constexpr size_t kMost = LabelSets::kMaxValueBytes;
  EXPECT_EQ(kept(std::string(kMost + 5, 'x')), std::string(kMost, 'x'));
  const std::string nearly(kMost - 1, 'x');
  EXPECT_EQ(kept(nearly + "\xC3\xA9"), nearly);
  EXPECT_EQ(kept(nearly.substr(1) + "\xC3\xA9"), nearly.substr(1) + "\xC3\xA9");
  // U+1F600 as the JVM writes it: only its first surrogate has room.
  EXPECT_EQ(kept(nearly.substr(2) + "\xED\xA0\xBD\xED\xB8\x80"), nearly.substr(2));
}

}  // namespace
}  // namespace jtrace::trace
