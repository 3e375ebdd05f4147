#include "distributed/mpi_ranks.hpp"

#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

namespace demix {
namespace {

constexpr std::size_t most = std::size_t{1} << 30;  // bytes of a message: MPI counts them by int

// part(offset, size) for each part of a message.
template <typename Part>
void in_parts(std::size_t size, const Part& part) {
  for (std::size_t at = 0; at < size; at += most) part(at, static_cast<int>(std::min(most, size - at)));
}

class Timed {
 public:
  explicit Timed(double& seconds) : seconds_(seconds) {}
  ~Timed() { seconds_ += MPI_Wtime() - start_; }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  double& seconds_;
  double start_ = MPI_Wtime();
};

}  // namespace

struct MpiRanks::Handles {
  MPI_Comm end = MPI_COMM_NULL;  // apart from all else, so that a rank can wait for those that never come
};

MpiRanks::MpiRanks(int& argc, char**& argv) : handles_(new Handles) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  int value = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &value);
  rank_ = value;
  MPI_Comm_size(MPI_COMM_WORLD, &value);
  count_ = value;
  MPI_Comm_dup(MPI_COMM_WORLD, &handles_->end);
}

MpiRanks::~MpiRanks() {
  MPI_Finalize();
  delete handles_;
}

void MpiRanks::send(Index to, std::string_view bytes) {
  const Timed timed(traffic_.seconds);
  const auto size = static_cast<std::uint64_t>(bytes.size());
  MPI_Send(&size, 1, MPI_UINT64_T, static_cast<int>(to), 0, MPI_COMM_WORLD);
  in_parts(bytes.size(), [&](std::size_t at, int count) {
    MPI_Send(bytes.data() + at, count, MPI_BYTE, static_cast<int>(to), 0, MPI_COMM_WORLD);
  });
  ++traffic_.messages;
  traffic_.bytes += static_cast<std::int64_t>(bytes.size());
}

std::string MpiRanks::receive(Index from) {
  const Timed timed(traffic_.seconds);
  std::uint64_t size = 0;
  MPI_Recv(&size, 1, MPI_UINT64_T, static_cast<int>(from), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  std::string bytes(size, '\0');
  in_parts(bytes.size(), [&](std::size_t at, int count) {
    MPI_Recv(bytes.data() + at, count, MPI_BYTE, static_cast<int>(from), 0, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
  });
  return bytes;
}

void MpiRanks::broadcast(std::string& bytes) {
  if (count_ == 1) return;
  const Timed timed(traffic_.seconds);
  auto size = static_cast<std::uint64_t>(bytes.size());
  MPI_Bcast(&size, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  bytes.resize(size);
  in_parts(bytes.size(), [&](std::size_t at, int count) {
    MPI_Bcast(bytes.data() + at, count, MPI_BYTE, 0, MPI_COMM_WORLD);
  });
  if (rank_ != 0) return;
  ++traffic_.messages;
  traffic_.bytes += static_cast<std::int64_t>(bytes.size());
}

MpiRanks::OnHost MpiRanks::on_this_host(const std::string& text) const {
  MPI_Comm host = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  int count = 1, own = 0;
  MPI_Comm_size(host, &count);
  MPI_Comm_rank(host, &own);
  const auto size = static_cast<int>(text.size());
  std::string all(text.size() * static_cast<std::size_t>(count), '\0');
  MPI_Allgather(text.data(), size, MPI_BYTE, all.data(), size, MPI_BYTE, host);
  MPI_Comm_free(&host);
  OnHost out{{}, static_cast<std::size_t>(own)};
  for (std::size_t at = 0; at < all.size(); at += text.size())
    out.texts.push_back(all.substr(at, text.size()));
  return out;
}

bool MpiRanks::ends_with_all(int& code, Index& told_by, double seconds) {
  std::vector<int> codes(static_cast<std::size_t>(count_));
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallgather(&code, 1, MPI_INT, codes.data(), 1, MPI_INT, handles_->end, &request);
  const double start = MPI_Wtime();
  for (;;) {
    int done = 0;
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) break;
    if (code != 0 && MPI_Wtime() - start > seconds) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const auto highest = std::max_element(codes.begin(), codes.end());
  told_by = highest - codes.begin();
  code = *highest;
  return true;
}

void MpiRanks::abort(int code) {
  MPI_Abort(MPI_COMM_WORLD, code);
  std::abort();
}

}  // namespace demix
