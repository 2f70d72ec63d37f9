// Processes a sequence of items with several threads and returns them in their order.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace jtrace::postproc {

// Items are fetched by one thread at a time, in order; processed by any, in parallel; and taken by
// the owner's thread, in order. The owner's thread fetches and works too while the item that it
// wants is not ready: with `jobs` = 1 it does everything and there are no other threads. Memory is
// bounded: there are never more than jobs + 1 items (one for jobs = 1), and none is fetched while
// the existing ones weigh kMostWeight. Items are reused: they keep their buffers. If fetching or
// processing an item throws, Next throws in its place.
template <typename Item>
class OrderedWorkers {
 public:
  // Fills the next item; false at the end. Never two at once.
  using Fetch = std::function<bool(Item&)>;
  // Any thread; must touch only the item's data and constants.
  using Work = std::function<void(Item&)>;
  // The weight of an item, known when it is fetched.
  using Weight = std::function<size_t(const Item&)>;
  static constexpr size_t kMostWeight = size_t{96} << 20;

  OrderedWorkers(int jobs, Fetch fetch, Work work, Weight weight)
      : most_items_(jobs <= 1 ? 1 : static_cast<size_t>(jobs) + 1),
        fetch_(std::move(fetch)),
        work_(std::move(work)),
        weight_(std::move(weight)) {
    helpers_.reserve(most_items_);
    for (int i = 1; i < jobs; ++i) {
      try {
        helpers_.emplace_back([this] { Help(); });
      } catch (const std::exception&) {
        break;  // no more threads, or no memory for them, are available: the others do it
      }
    }
  }
  OrderedWorkers(const OrderedWorkers&) = delete;
  OrderedWorkers& operator=(const OrderedWorkers&) = delete;
  ~OrderedWorkers() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    for (std::thread& helper : helpers_) helper.join();
  }

  // The next item, valid until the next call; null at the end. Not to be called again once it has
  // thrown.
  Item* Next() {
    std::unique_lock lock(mutex_);
    if (given_ != nullptr) Recycle(std::move(given_));
    while (true) {
      if (!row_.empty() && row_.front()->state == State::kDone) {
        given_ = std::move(row_.front());
        row_.pop_front();
        if (given_->thrown != nullptr) std::rethrow_exception(given_->thrown);
        return &given_->item;
      }
      if (row_.empty() && ended_ && !fetching_) {
        if (thrown_ != nullptr) std::rethrow_exception(thrown_);
        return nullptr;
      }
      if (!DoOne(lock)) changed_.wait(lock);
    }
  }

 private:
  enum class State { kFetched, kWorking, kDone };
  struct Slot {
    Item item;
    State state = State::kFetched;
    size_t weight = 0;
    std::exception_ptr thrown;  // by the work
  };

  void Help() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      if (!DoOne(lock)) changed_.wait(lock);
    }
  }

  // Processes the first item that no thread works on, or fetches one. False if there is nothing to
  // do.
  bool DoOne(std::unique_lock<std::mutex>& lock) {
    for (const std::unique_ptr<Slot>& slot : row_) {
      if (slot->state == State::kFetched) {
        WorkOn(*slot, lock);
        return true;
      }
    }
    if (!MayFetch()) return false;
    FetchOne(lock);
    return true;
  }

  void WorkOn(Slot& slot, std::unique_lock<std::mutex>& lock) {
    slot.state = State::kWorking;
    lock.unlock();
    try {
      work_(slot.item);
    } catch (...) {
      slot.thrown = std::current_exception();
    }
    lock.lock();
    slot.state = State::kDone;
    changed_.notify_all();
  }

  bool MayFetch() const {
    if (ended_ || fetching_) return false;
    const size_t items = row_.size() + (given_ != nullptr ? 1 : 0);
    return row_.empty() || (items < most_items_ && weight_of_all_ < kMostWeight);
  }

  void FetchOne(std::unique_lock<std::mutex>& lock) {
    fetching_ = true;
    try {
      ended_ = !FetchNext(lock);
    } catch (...) {
      if (!lock.owns_lock()) lock.lock();
      thrown_ = std::current_exception();
      ended_ = true;
    }
    fetching_ = false;
    changed_.notify_all();
  }

  // False at the end.
  bool FetchNext(std::unique_lock<std::mutex>& lock) {
    std::unique_ptr<Slot> slot;
    if (spare_.empty()) {
      slot = std::make_unique<Slot>();
    } else {
      slot = std::move(spare_.back());
      spare_.pop_back();
    }
    lock.unlock();
    const bool fetched = fetch_(slot->item);
    const size_t weight = fetched ? weight_(slot->item) : 0;
    lock.lock();
    if (!fetched) return false;
    slot->state = State::kFetched;
    slot->weight = weight;
    row_.push_back(std::move(slot));
    weight_of_all_ += weight;
    return true;
  }

  void Recycle(std::unique_ptr<Slot> slot) {
    weight_of_all_ -= slot->weight;
    spare_.push_back(std::move(slot));
    changed_.notify_all();
  }

  const size_t most_items_;
  const Fetch fetch_;
  const Work work_;
  const Weight weight_;

  std::mutex mutex_;
  std::condition_variable changed_;
  // Under the mutex; the content of an item belongs to the thread that fetches it, works on it or
  // has got it.
  std::deque<std::unique_ptr<Slot>> row_;  // in order, without the one given
  std::unique_ptr<Slot> given_;
  std::vector<std::unique_ptr<Slot>> spare_;
  size_t weight_of_all_ = 0;
  bool fetching_ = false;
  bool ended_ = false;
  bool stopping_ = false;
  std::exception_ptr thrown_;  // by the fetching, which has ended

  std::vector<std::thread> helpers_;
};

}  // namespace jtrace::postproc
