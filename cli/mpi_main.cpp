#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "commands.hpp"
#include "console.hpp"
#include "demix/temporary.hpp"
#include "demix/threads.hpp"
#include "demix/version.hpp"
#include "distributed/core_share.hpp"
#include "distributed/mpi_ranks.hpp"
#include "outcome.hpp"
#include "signals.hpp"

/// demix over the ranks of an MPI job. Rank 0 prints.
namespace {

// What all ranks must have in common, as lines: version, arguments, the sizes of files that are named.
std::string common_to_all(const std::vector<std::string>& arguments) {
  std::string text = std::string("version ") + demix::version + "\n";
  for (std::size_t k = 1; k < arguments.size(); ++k) {
    text += "argument " + arguments[k] + "\n";
    struct stat file {};
    const bool is_output = arguments[k - 1] == "-o" || arguments[k - 1] == "--output";
    if (!is_output && ::stat(arguments[k].c_str(), &file) == 0 && S_ISREG(file.st_mode)) {
      text += "size of " + arguments[k] + " " + std::to_string(file.st_size) + "\n";
    }
  }
  return text;
}

// The first line in which b differs from a.
std::string first_difference(std::string_view a, std::string_view b) {
  while (!a.empty() || !b.empty()) {
    const std::string_view x = a.substr(0, a.find('\n'));
    const std::string_view y = b.substr(0, b.find('\n'));
    if (x != y) return "'" + std::string(y) + "' where rank 0 has '" + std::string(x) + "'";
    a.remove_prefix(std::min(a.size(), x.size() + 1));
    b.remove_prefix(std::min(b.size(), y.size() + 1));
  }
  return {};
}

// What the first rank that differs from rank 0 has, known to all; empty: they agree.
std::string disagreement(demix::Ranks& ranks, const std::string& mine) {
  std::string first = mine;
  ranks.broadcast(first);
  std::string difference = first_difference(first, mine);
  if (!difference.empty()) difference = "rank " + std::to_string(ranks.rank()) + " has " + difference + "\n";
  const std::string all = demix::all_gathered(ranks, difference);
  return all.substr(0, all.find('\n'));
}

// By the cores that mpirun has bound this rank to, and the other ranks of its host.
demix::Index threads_for(const demix::MpiRanks& ranks) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (::sched_getaffinity(0, sizeof cores, &cores) != 0) {  // bound to none: all
    const long all = std::clamp<long>(::sysconf(_SC_NPROCESSORS_ONLN), 1, CPU_SETSIZE);
    for (long core = 0; core < all; ++core) CPU_SET(static_cast<std::size_t>(core), &cores);
  }
  std::string allowed;
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core) allowed += CPU_ISSET(core, &cores) ? '1' : '0';
  const demix::MpiRanks::OnHost host = ranks.on_this_host(allowed);
  return demix::core_share(host.texts, host.own);
}

// "1", or "1 to 2" if ranks differ.
std::string threads_of_all(demix::Ranks& ranks) {
  const std::string all = demix::all_gathered(ranks, std::to_string(demix::thread_limit()) + " ");
  std::istringstream numbers(all);
  std::vector<demix::Index> counts;
  for (demix::Index n = 0; numbers >> n;) counts.push_back(n);
  const auto [least, most] = std::ranges::minmax(counts);
  return least == most ? std::to_string(least) : std::to_string(least) + " to " + std::to_string(most);
}

// Bytes that this process has read, from files for the most part.
std::int64_t bytes_read() {
  std::ifstream counts("/proc/self/io");
  std::string name;
  std::int64_t count = 0;
  while (counts >> name >> count) {
    if (name == "rchar:") return count;
  }
  return 0;
}

bool started_by_a_launcher() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"}) {
    if (std::getenv(name) != nullptr) return true;
  }
  return false;
}

// Only rank 0 prints; what another one has to say of its failure is kept in a file without a name.
class Output {
 public:
  explicit Output(bool prints) : prints_(prints) {
    if (prints_) return;
    stderr_ = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    kept_ = ::memfd_create("messages", MFD_CLOEXEC);
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(kept_ >= 0 ? kept_ : nowhere, STDERR_FILENO);
  }
  // The last line that was printed, to where stderr was.
  void tell_last(demix::Index rank) const {
    if (prints_ || kept_ < 0) return;
    std::fflush(stderr);
    std::string text(static_cast<std::size_t>(std::max<off_t>(0, ::lseek(kept_, 0, SEEK_END))), '\0');
    if (::pread(kept_, text.data(), text.size(), 0) < 0) return;
    while (!text.empty() && text.back() == '\n') text.pop_back();
    std::string line = text.substr(text.rfind('\n') + 1);
    if (line.starts_with("demix: ")) line.erase(0, std::strlen("demix: "));
    line = "demix-mpi: rank " + std::to_string(rank) + ": " + line + "\n";
    [[maybe_unused]] const ssize_t put = ::write(stderr_, line.data(), line.size());
  }

 private:
  bool prints_;
  int stderr_ = -1, kept_ = -1;
};

}  // namespace

int main(int argc, char** argv) {
  using demix::cli::message;
  demix::cli::prepare_descriptors();
  const bool launched = started_by_a_launcher();  // asked now: MPI sets these variables itself
  demix::MpiRanks ranks(argc, argv);
  demix::cli::catch_signals();
  std::signal(SIGPIPE, SIG_IGN);
  const Output output(ranks.rank() == 0);
  std::vector<std::string> arguments(argv, argv + argc);

  int code = 1;
  const std::string difference = disagreement(ranks, common_to_all(arguments));
  if (!difference.empty()) {
    message("demix-mpi: {}; all ranks must have the same version, options and files", difference);
    return code;
  }
  const bool verbose = std::erase(arguments, "--verbose") > 0;
  if (!launched) message("note: not started by mpirun: one rank");
  demix::set_ranks(&ranks);
  demix::limit_threads(threads_for(ranks));
  demix::cli::Program program("demix-mpi",
                              "demix over the ranks of an MPI job: mpirun -n 4 demix-mpi fit ... All ranks "
                              "share the passes over files of numbers, EDF, BDF, GDF and WAV, and over files "
                              "small enough to be kept in memory. Raw numbers and .npy are written by all of "
                              "them, other outputs by the first. --verbose prints threads and traffic.",
                              demix::version, "Help on a command: demix-mpi COMMAND --help");
  demix::cli::add_separate(program);
  demix::cli::add_fit(program);
  demix::cli::add_apply(program);
  demix::cli::add_info(program);
  std::vector<const char*> words;
  for (const std::string& argument : arguments) words.push_back(argument.c_str());
  demix::cli::keep_command_line(static_cast<int>(words.size()), words.data());
  code = demix::cli::run_reported(program, static_cast<int>(words.size()), words.data());
  if (code != 0) demix::remove_made_folders();

  demix::Index told_by = 0;
  const int own = code;
  // The lowest of several that failed speaks first.
  const double patience = 1 + 0.2 * static_cast<double>(std::min<demix::Index>(ranks.rank(), 10));
  if (!ranks.ends_with_all(code, told_by, patience)) {
    output.tell_last(ranks.rank());
    ranks.abort(own);
  }
  if (code != 0 && told_by == ranks.rank()) output.tell_last(ranks.rank());
  if (verbose && code == 0) {
    const demix::MpiRanks::Traffic t = ranks.traffic();
    const std::string threads = threads_of_all(ranks);
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    message(
        "ranks: {}; threads of a rank: {}; rank 0 sent {} messages, {} bytes, was {:.3f} s in communication, "
        "read {} MB, took {} MB of memory",
        ranks.count(), threads, t.messages, t.bytes, t.seconds, bytes_read() / 1000000,
        used.ru_maxrss / 1024);
  }
  demix::cli::end_if_told();
  return code;
}
