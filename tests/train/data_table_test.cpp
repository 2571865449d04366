// Tables in comma-separated values: cells, what columns mean, and where their numbers go.
#include <gtest/gtest.h>

#include <cmath>

#include "framework/builder/builder.h"
#include "tests/train/data_samples.h"
#include "train/data/csv_file.h"
#include "train/data/table.h"
#include "train/session/fed_data.h"

namespace lethe::testing {
namespace {

class Csv : public ::testing::Test {
 protected:
  std::string put(const std::string& content, const std::string& name = "t.csv") const {
    folder_.write(name, content);
    return folder_.text() + '/' + name;
  }
  std::vector<std::string> cells_of(const std::string& content) const {
    const CsvFile file(put(content));
    std::vector<std::string> cells = file.names();
    for (std::int64_t row = 0; row < file.rows(); ++row)
      for (std::size_t c = 0; c < file.names().size(); ++c) cells.emplace_back(file.cell(row, c));
    return cells;
  }
  std::string refused(const std::string& content) const {
    return error_from([&] { cells_of(content); });
  }
  TemporaryFolder folder_;
};

using Cells = std::vector<std::string>;

TEST_F(Csv, ReadsCellsAsRfc4180HasThem) {
  EXPECT_EQ(cells_of("a,b\n1,2\n"), (Cells{"a", "b", "1", "2"}));
  EXPECT_EQ(cells_of("\xEF\xBB\xBF"
                     "a,b\r\n1,2\r\n\r\n,"),
            (Cells{"a", "b", "1", "2", "", ""}));
  EXPECT_EQ(cells_of("\"a,b\",c\n\"say \"\"so\"\"\",\"two\nlines\"\n\"\",x"),
            (Cells{"a,b", "c", "say \"so\"", "two\nlines", "", "x"}));
}

TEST_F(Csv, SaysOnWhichLineARowIsWrong) {
  EXPECT_PRED2(says, refused(""), "t.csv: is empty, expected a header");
  EXPECT_PRED2(says, refused("a,b\n"), "t.csv: has a header and no row after it");
  EXPECT_PRED2(says, refused("a,b\n1,2\n\n1,2,3\n"), "t.csv:4: cells: 3, the header has 2");
  EXPECT_PRED2(says, refused("a,b\n\"x\ny\",2\n1\n"), "t.csv:4: cells: 1, the header has 2");
  EXPECT_PRED2(says, refused("a,b\n1,\"2\n3\n"), "t.csv:2: a quote that is not closed");
  EXPECT_PRED2(says, refused("a,b\n1,\"2\"3\n"), "t.csv:2: a cell goes on after the quote that closes it");
  EXPECT_PRED2(says, refused("a,b\n1,2\"3\n"), "t.csv:2: a quote within a cell");
  EXPECT_PRED2(says, refused("a,a\n1,2\n"), "t.csv:1: two columns are called 'a'");
  EXPECT_PRED2(says, refused(",a\n1,2\n"), "t.csv:1: column 1 has no name");
}

/// Reads a vector of floats and gives as many numbers as there are targets.
Network vector_network(std::int64_t inputs, std::int64_t outputs, const std::string& loss = "mse") {
  Builder net({.batch = 2});
  const VarId x = net.input("x", {inputs});
  net.loss(loss, net.layer("fc", x, {{"out", outputs}}), net.input("y", {outputs}));
  Network network = net.finish();
  network.name = "the network";
  return network;
}

constexpr const char* kPeople =
    "age,city,height,note,weight\n"
    "20,Rome,1.5,x,50\n"
    "40,Oslo,,x,60\n"
    "60,Rome,1.9,x,100\n"
    "20,Oslo,1.7,x,70\n";
constexpr const char* kOthers = "note,weight,city,age,height\nx,90,Bern,40,1.7\nx,50,,,1.5\n";

class Table : public Csv {
 protected:
  /// Of people, with the others for tests; '@' is the folder.
  std::unique_ptr<Samples> open(const std::string& options, const Network& network, const Meaning& known = {}) {
    std::string spec = "csv:" + put(kPeople) + ",test=" + put(kOthers, "others.csv") + options;
    return open_data(
        spec, 0, network, [this](const std::string& line) { lines_ += line + '\n'; }, known);
  }
  static std::vector<float> sample(const Samples& data, Split split, std::int64_t index) {
    std::vector<float> values(static_cast<std::size_t>(data.sample_bytes(DType::f32)) / 4);
    data.reader({})->read(split, index, 0, reinterpret_cast<std::byte*>(values.data()), nullptr);
    return values;
  }
  std::string lines_;
};

void expect_numbers(const std::vector<float>& values, const std::vector<double>& wanted) {
  ASSERT_EQ(values.size(), wanted.size());
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], wanted[i], 1e-6) << i;
}

const std::string kOptions = ",target=weight,drop=note,categories=city";

TEST_F(Table, IsOneVectorOfStandardisedNumbersAndCategories) {
  const auto data = open(kOptions, vector_network(4, 1));
  check_fed(vector_network(4, 1), *data);
  EXPECT_EQ(data->size(Split::Train), 4);
  EXPECT_EQ(data->size(Split::Test), 2);
  const double age = std::sqrt(275.0), height = std::sqrt(0.08 / 3), weight = std::sqrt(350.0);
  expect_numbers(sample(*data, Split::Train, 0), {-15 / age, 0, 1, -0.2 / height, -20 / weight});
  expect_numbers(sample(*data, Split::Train, 1), {5 / age, 1, 0, 0, -10 / weight});
  expect_numbers(sample(*data, Split::Test, 0), {5 / age, 0, 0, 0, 20 / weight});
  expect_numbers(sample(*data, Split::Test, 1), {0, 0, 0, -0.2 / height, -20 / weight});
  EXPECT_PRED2(says, lines_, "t.csv: empty cells of column 'height', read as their mean 1.7: 1");
  EXPECT_PRED2(says, lines_, "others.csv: empty cells of column 'city', read as no category: 1");
  EXPECT_PRED2(says, lines_,
               "others.csv: cells of column 'city' with what is no category for training, read as none: 1");
  const Meaning meaning = data->meaning();
  EXPECT_EQ(meaning.columns[1].categories, (Cells{"Oslo", "Rome"}));
  EXPECT_EQ(meaning.targets, (std::vector<TableColumn>{{.name = "weight", .mean = 70, .deviation = weight}}));
}

TEST_F(Table, FeedsInputsThatAreCalledAsColumns) {
  Builder net({.batch = 2});
  const VarId x = net.input("x", {2}), city = net.input("city", {}, DType::i32);
  const VarId known = net.layer("embedding", city, {{"vocab", 3}, {"out", 1}});
  net.loss("l1", net.layer("add", {net.layer("fc", x, {{"out", 1}}), known}), net.input("y", {1}));
  const Network network = net.finish();
  const auto data = open(kOptions, network);
  check_fed(network, *data);
  struct Row {
    float x[2];
    std::int32_t city;
    float y;
  } row;
  const auto city_of = [&](Split split, std::int64_t index) {
    data->reader({})->read(split, index, 0, reinterpret_cast<std::byte*>(&row), nullptr);
    return row.city;
  };
  EXPECT_EQ(city_of(Split::Train, 0), 2);
  EXPECT_EQ(city_of(Split::Train, 1), 1);
  EXPECT_EQ(city_of(Split::Test, 0), 0) << "unknown";
  EXPECT_EQ(city_of(Split::Test, 1), 0) << "empty";
}

TEST_F(Table, OfARunThatIsThereKeepsWhatItsColumnsMean) {
  const Meaning known = open(kOptions, vector_network(4, 1))->meaning();
  const std::string again = "csv:" + put(kOthers) + ",target=weight,test=" + put(kPeople, "u.csv");
  const auto data = open_data(again, 0, vector_network(4, 1), {}, known);
  EXPECT_EQ(data->meaning(), known);
  expect_numbers(sample(*data, Split::Train, 0), {5 / std::sqrt(275.0), 0, 0, 0, 20 / std::sqrt(350.0)});
  EXPECT_PRED2(
      says, error_from([&] {
        open_data("csv:" + put("age,weight\n1,2\n3,4\n") + ",target=weight,test=" + put("age,weight\n1,2\n", "u.csv"),
                  0, vector_network(4, 1), {}, known);
      }),
      "t.csv: has no column 'city', only age, weight");
  EXPECT_PRED2(says, error_from([&] { open(",target=weight,drop=city", vector_network(4, 1), known); }, Exit::Usage),
               "the run reads 'city', so it cannot be dropped");
  EXPECT_PRED2(says,
               error_from([&] { open(",target=weight,categories=age", vector_network(4, 1), known); }, Exit::Usage),
               "to the run 'age' is a number");
  EXPECT_PRED2(says, error_from([&] { open_data("numbers", 0, vector_network(4, 1), {}, known); }),
               "numbers: has other columns than the table that the run was trained on, age, city, height");
}

TEST_F(Table, TellsClassesApart) {
  const auto classifier = [](std::int64_t classes) {
    Builder net({.batch = 2});
    const VarId x = net.input("x", {3});
    net.loss("cross_entropy", net.layer("fc", x, {{"out", classes}}), net.input("label", {}, DType::i32));
    return net.finish();
  };
  const std::string spec = "csv:" + put(kPeople) + ",target=city,drop=note,test=";
  const auto data = open_data(spec + put("age,city,height,weight\n1,Rome,2,3\n", "u.csv"), 0, classifier(2));
  EXPECT_EQ(data->classes(), (Cells{"Oslo", "Rome"}));
  EXPECT_EQ(data->labels(), 1);
  std::int32_t label = -1;
  float x[3];
  data->reader({})->read(Split::Train, 0, 0, reinterpret_cast<std::byte*>(x), &label);
  EXPECT_EQ(label, 1);
  EXPECT_PRED2(says, error_from([&] {
                 open_data(spec + put("age,city,height,weight\n1,Bern,2,3\n", "u.csv"), 0, classifier(2));
               }),
               "u.csv:2: column 'city' has 'Bern', which is none of the classes Oslo, Rome");
  EXPECT_PRED2(says, error_from([&] { open_data(spec + put(kOthers, "u.csv"), 0, classifier(3)); }),
               "column 'city' has 2 classes, the network tells 3 apart; `set` classes=2");
}

TEST_F(Table, SaysWhatDoesNotFit) {
  const Network network = vector_network(4, 1);
  const auto wrong = [&](const std::string& options, Exit code = Exit::Data) {
    return error_from([&] { open(options, network); }, code);
  };
  EXPECT_PRED2(says, wrong("", Exit::Usage), "write which column is predicted: target=NAME");
  EXPECT_PRED2(says, wrong(",target=wieght", Exit::Usage), "has no column 'wieght'; did you mean 'weight'?");
  EXPECT_PRED2(says, wrong(",target=weight,drop=weight", Exit::Usage), "'weight' is a target, which cannot be dropped");
  EXPECT_PRED2(says, wrong(",target=weight|age|weight", Exit::Usage), "the target 'weight' stands twice");
  EXPECT_PRED2(says, wrong(",target=weight,categories=weight", Exit::Usage),
               "'weight' is a target, which the loss takes as a number");
  EXPECT_PRED2(says, wrong(",target=weight,drop=note,categories=city|note", Exit::Usage),
               "'note' stands in drop and in categories");
  EXPECT_PRED2(says, wrong(",target=weight,frop=note"), "target=weight,frop=note: cannot be opened");
  EXPECT_PRED2(says, wrong(",target=weight,drop=note"),
               "t.csv:2: column 'city' has 'Rome', expected a number; categories=city");
  EXPECT_PRED2(says, wrong(",target=weight|age,drop=note,categories=city"),
               "the columns come to 3 numbers, one for each category, the input 'x' of the network takes 4");
  EXPECT_PRED2(says, error_from([&] { open(",target=weight|age,drop=note,categories=city", vector_network(3, 1)); }),
               "targets: 2; the network gives 1; `set` outputs=2");
  EXPECT_PRED2(says, wrong(",target=height,drop=note,categories=city"),
               "t.csv:3: column 'height' has nothing, expected a number");
  EXPECT_PRED2(says, error_from([&] { open(kOptions, vector_network(4, 1, "bce")); }),
               "t.csv:2: column 'weight' has 50, bce takes 0 to 1");
  EXPECT_PRED2(says, wrong(kOptions + ",val=0.2", Exit::Usage), "val goes without test");
  const auto in_cell = [&](const std::string& cell) {
    return error_from([&] {
      open_data("csv:" + put("a,b\n1,2\n1," + cell + "\n") + ",target=a,test=" + put("a,b\n1,2\n", "u.csv"), 0,
                vector_network(1, 1));
    });
  };
  EXPECT_PRED2(says, in_cell("nan"), "t.csv:3: column 'b' has 'nan', which is no finite number");
  EXPECT_PRED2(says, in_cell("1e999"), "t.csv:3: column 'b' has '1e999', which is no finite number");
  EXPECT_PRED2(says, error_from([&] {
                 open_data("csv:" + put("a,b\n1,2\n2,3\n") + ",target=a,test=" + put("a,b\n1,1e40\n", "u.csv"), 0,
                           vector_network(1, 1));
               }),
               "u.csv:2: column 'b' has 1e+40, which is too far from the mean 2.5");
}

TEST_F(Table, NotesAColumnOfOneNumber) {
  std::string lines;
  const auto data = open_data("csv:" + put("a,b\n1,7\n2,7\n3,7\n") + ",target=a,test=" + put("a,b\n1,8\n", "u.csv"), 0,
                              vector_network(1, 1), [&](const std::string& line) { lines += line; });
  EXPECT_PRED2(says, lines, "t.csv: column 'b' is 7 in all rows for training, so nothing is learned from it");
  EXPECT_EQ(sample(*data, Split::Train, 0)[0], 0);
  EXPECT_EQ(sample(*data, Split::Test, 0)[0], 1) << "its deviation counts as 1";
}

TEST_F(Table, RowsForPredictionNeedNoTarget) {
  const Network network = vector_network(4, 1);
  const Meaning known = open(kOptions, network)->meaning();
  const TableRows rows =
      open_rows(put("city,height,age\nRome,1.9,60\n\nOslo,,20\n"), network, fed_inputs(network), {}, known);
  EXPECT_EQ(rows.samples->size(Split::Test), 2);
  EXPECT_TRUE(rows.places[1].ends_with("t.csv:4")) << rows.places[1];
  expect_numbers(sample(*rows.samples, Split::Test, 0), {25 / std::sqrt(275.0), 0, 1, 0.2 / std::sqrt(0.08 / 3), 0});
}

}  // namespace
}  // namespace lethe::testing
