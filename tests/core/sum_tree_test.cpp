#include "core/sum_tree.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <thread>

/// How sums over chunks are put together, alone and over ranks.
namespace demix {
namespace {

// A "sum" that shows in which order it was put together: 0 + 1 is "(0,1)".
struct Expression {
  std::vector<char> text;

  void merge(const Expression& other) {
    const std::string both = "(" + string() + "," + other.string() + ")";
    text.assign(both.begin(), both.end());
  }
  std::string string() const { return {text.begin(), text.end()}; }
  template <typename Archive>
  void fields(Archive& a) {
    a(text);
  }
};

Expression chunk(Index number) {
  const std::string text = std::to_string(number);
  return {{text.begin(), text.end()}};
}

std::string alone(Index chunks) {
  SumTree<Expression> tree;
  for (Index k = 0; k < chunks; ++k) tree.add(0, k, chunk(k));
  return std::move(tree).total({}).string();
}

// Letters between threads that play ranks.
class Post {
 public:
  void put(Index from, Index to, std::string_view bytes) {
    const std::scoped_lock lock(mutex_);
    letters_[{from, to}].emplace_back(bytes);
    arrived_.notify_all();
  }
  std::string get(Index from, Index to) {
    std::unique_lock lock(mutex_);
    std::deque<std::string>& box = letters_[{from, to}];
    arrived_.wait(lock, [&] { return !box.empty(); });
    std::string bytes = std::move(box.front());
    box.pop_front();
    return bytes;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::map<std::pair<Index, Index>, std::deque<std::string>> letters_;
};

class ThreadRank final : public Ranks {
 public:
  ThreadRank(Post& post, Index rank, Index count) : post_(post), rank_(rank), count_(count) {}
  Index rank() const override { return rank_; }
  Index count() const override { return count_; }
  void send(Index to, std::string_view bytes) override { post_.put(rank_, to, bytes); }
  std::string receive(Index from) override { return post_.get(from, rank_); }
  void broadcast(std::string& bytes) override {
    if (rank_ != 0) {
      bytes = receive(0);
      return;
    }
    for (Index k = 1; k < count_; ++k) send(k, bytes);
  }

 private:
  Post& post_;
  Index rank_, count_;
};

// work(rank) of each, at once.
template <typename Work>
std::vector<std::string> on_ranks(Index count, const Work& work) {
  Post post;
  std::vector<std::string> out(static_cast<std::size_t>(count));
  std::vector<std::thread> threads;
  for (Index r = 0; r < count; ++r) {
    threads.emplace_back([&, r] {
      ThreadRank rank(post, r, count);
      out[static_cast<std::size_t>(r)] = work(rank);
    });
  }
  for (std::thread& t : threads) t.join();
  return out;
}

TEST(SumTree, IsABinaryTreeOverTheNumbers) {
  EXPECT_EQ(alone(0), "");
  EXPECT_EQ(alone(1), "0");
  EXPECT_EQ(alone(4), "((0,1),(2,3))");
  EXPECT_EQ(alone(7), "(((0,1),(2,3)),((4,5),6))");
}

TEST(SumTree, IsTheSameOnAnyNumberOfRanks) {
  for (const Index chunks : {0, 1, 2, 3, 7, 16, 33, 100, 517}) {
    const std::string expected = alone(chunks);
    for (const Index count : {1, 2, 3, 4, 5, 8}) {
      const std::vector<std::string> found = on_ranks(count, [&](Ranks& ranks) {
        SumTree<Expression> tree;
        const ChunkShare share = share_of(chunks, ranks.rank(), ranks.count());
        for (Index k = share.first; k < share.end; ++k) tree.add(0, k, chunk(k));
        return std::move(tree).total_over(ranks, {}).string();
      });
      for (const std::string& f : found) EXPECT_EQ(f, expected) << chunks << " chunks, " << count << " ranks";
    }
  }
}

TEST(SumTree, SharesCoverAllChunksOnce) {
  for (const Index chunks : {0, 1, 5, 31, 32, 1000, 99999}) {
    for (const Index count : {1, 2, 3, 7, 64}) {
      Index next = 0;
      for (Index r = 0; r < count; ++r) {
        const ChunkShare share = share_of(chunks, r, count);
        EXPECT_EQ(share.first, next);
        EXPECT_GE(share.end, share.first);
        next = share.end;
      }
      EXPECT_EQ(next, chunks);
    }
  }
}

TEST(Ranks, GatherInTheirOrder) {
  for (const Index count : {1, 2, 3, 6}) {
    std::string expected;
    for (Index r = 0; r < count; ++r) expected += std::to_string(r) + ";";
    const std::vector<std::string> found =
        on_ranks(count, [](Ranks& ranks) { return all_gathered(ranks, std::to_string(ranks.rank()) + ";"); });
    for (const std::string& f : found) EXPECT_EQ(f, expected);
  }
}

TEST(Pack, RefusesBytesThatEndTooEarly) {
  Packer packer;
  Matrix<double> m = Matrix<double>::Random(3, 2);
  std::vector<Index> v{1, 2, 3};
  packer(m, v);
  for (std::size_t size = 0; size < packer.bytes.size(); ++size) {
    Matrix<double> n;
    std::vector<Index> w;
    Unpacker unpacker(std::string_view(packer.bytes).substr(0, size));
    EXPECT_THROW(unpacker(n, w), std::invalid_argument) << size;
  }
  Matrix<double> n;
  std::vector<Index> w;
  Unpacker unpacker(packer.bytes);
  unpacker(n, w);
  EXPECT_EQ(n, m);
  EXPECT_EQ(w, v);
  EXPECT_TRUE(unpacker.done());
}

}  // namespace
}  // namespace demix
