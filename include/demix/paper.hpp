#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "demix/types.hpp"

/// The paper (Bahroun, Chklovskii, Sengupta, NeurIPS 2021) made again: every figure and table from a fixed
/// seed, with the numbers behind it, what the paper says and what was measured.
namespace demix::paper {

struct Setting {
  std::filesystem::path folder;  ///< for the pictures
  std::filesystem::path data;  ///< where the recordings are; where they are not, generated stand-ins are used
  bool quick = false;          ///< fewer runs, shorter ones
  int threads = 0;             ///< 0 = one per core; the numbers do not depend on it
  ProgressCallback progress;
};

struct Number {
  std::string name;
  double value = 0;
};

struct Table {
  std::string name;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  std::string length{};  ///< as Result::length
};

struct Figure {
  std::string name;  ///< of name.svg and name.png in the folder
  std::string caption;
};

struct Result {
  std::vector<Figure> pictures;
  std::vector<Number> numbers;
  std::vector<Table> tables;
  std::string measured;  ///< in a sentence or two
  std::string differs;   ///< from the paper, in one sentence; empty: it does not
  std::string length;    ///< of a quick run: mixings, steps, frames it took; empty: a full run
  std::string data;      ///< recordings or stand-ins it was made on; empty: neither
};

/// A figure, a table or a claim.
struct Item {
  std::string_view name, title;
  std::string_view says;                   ///< the paper
  std::string_view lambda;                 ///< which reading of Lambda it uses; empty: none
  Result (*make)(const Setting& setting);  ///< to be called by make() below
};

std::span<const Item> items();
const Item& item_named(std::string_view name);  ///< throws std::invalid_argument listing the names

/// What was made, to be put on a page.
struct Made {
  const Item* item;
  Result result;
};

/// Runs it. A quick run says how long it was wherever its results are told, and gives no verdict on the
/// paper.
Made make(const Item& item, const Setting& setting);

/// With the length of a quick run in a column of its own.
std::string to_csv(const Table& table);
/// Names, numbers and words, the length of quick runs, and `version`, `quick`.
std::string to_json(const std::vector<Made>& made, bool quick);
/// A page for the folder with the pictures. `command`: what was typed.
std::string to_html(const std::vector<Made>& made, bool quick, const std::string& command);

/// The numbers against expected ones, {"quick": {"item.number": {"value": v, "tolerance": t}, ...}, "full":
/// ...}. The tolerance is relative; "absolute" in its place is not. A list of several, each with a part of
/// Result::data as "data", tells them apart by the data. One line for each that is off; throws
/// std::invalid_argument if `expected` cannot be read.
std::vector<std::string> check(const std::vector<Made>& made, bool quick, const std::string& expected);

}  // namespace demix::paper
