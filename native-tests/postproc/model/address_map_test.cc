#include "postproc/model/address_map.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <vector>

namespace jtrace::postproc {
namespace {

std::optional<uint32_t> At(const AddressMap& map, uint64_t address, int64_t time) {
  const AddressRange* range = map.Find(address, time);
  return range == nullptr ? std::nullopt : std::optional(range->payload);
}

TEST(AddressMapTest, RangesHoldWithinTheirTime) {
  AddressMap map;
  map.Add(100, 200, 10, 1);
  map.Remove(100, 200, 20);
  map.Add(100, 200, 30, 2);
  map.Add(150, 160, 40, 3);  // mapped over the one before
  map.Seal();
  EXPECT_EQ(At(map, 100, 10), 1u);
  EXPECT_EQ(At(map, 199, 19), 1u);
  EXPECT_EQ(At(map, 200, 15), std::nullopt);
  EXPECT_EQ(At(map, 99, 15), std::nullopt);
  EXPECT_EQ(At(map, 150, 35), 2u);
  EXPECT_EQ(At(map, 150, 45), 3u);
  // The next one, then the last one.
  EXPECT_EQ(At(map, 120, 5), 1u);
  EXPECT_EQ(At(map, 120, 25), 2u);
  EXPECT_EQ(At(map, 120, 45), 2u);
}

// Against a table of the range that holds each address at each time.
TEST(AddressMapTest, EqualsATableOfAddressesAndTimes) {
  constexpr int kAddresses = 24;
  constexpr int kTimes = 30;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    AddressMap map;
    std::vector<std::vector<int>> holder(kTimes, std::vector<int>(kAddresses, -1));
    std::vector<std::pair<int, int>> alive(kAddresses, {-1, -1});  // range by address
    std::vector<int> payload(kAddresses, -1);
    for (int time = 0; time < kTimes; ++time) {
      if (random() % 2 == 0) {
        const int start = static_cast<int>(random() % kAddresses);
        const int end = start + 1 + static_cast<int>(random() % 6);
        const bool removal = random() % 3 == 0;
        // Overlapping ranges are removed as a whole.
        for (int a = 0; a < kAddresses; ++a) {
          if (payload[a] >= 0 && alive[a].first < end && start < alive[a].second) payload[a] = -1;
        }
        if (removal) {
          map.Remove(static_cast<uint64_t>(start), static_cast<uint64_t>(end), time);
        } else {
          map.Add(static_cast<uint64_t>(start), static_cast<uint64_t>(end), time,
                  static_cast<uint32_t>(time));
          for (int a = start; a < end && a < kAddresses; ++a) {
            payload[a] = time;
            alive[a] = {start, end};
          }
        }
      }
      holder[time] = payload;
    }
    map.Seal();
    for (int time = 0; time < kTimes; ++time) {
      for (int a = 0; a < kAddresses; ++a) {
        if (holder[time][a] < 0) continue;
        ASSERT_EQ(At(map, static_cast<uint64_t>(a), time), static_cast<uint32_t>(holder[time][a]))
            << "seed " << seed << " address " << a << " time " << time;
      }
    }
  }
}

}  // namespace
}  // namespace jtrace::postproc
