#include "train/command_table.h"

#include <algorithm>

namespace lethe {

const std::vector<CommandInfo>& command_table() {
  static const std::vector<CommandInfo> table = {
      {Command::Train,
       "",
       "Trains a neural network that a JSON file describes, and says beforehand how much memory that takes.",
       {{"train --model lenet --data mnist:DIR --epochs 3 --save runs/lenet", "train; checkpoints in runs/lenet"},
        {"train plan --model resnet110 --memory-budget 1200MiB", "does it fit? what takes less?"},
        {"train --resume runs/lenet --epochs 5", "go on where it stopped"}}},
      {Command::Bench,
       "bench",
       "Runs memory settings against each other: bytes planned and taken, time, losses.",
       {{"train bench --model lenet --settings 'none;level=2'", "what does saving memory cost?"}}},
      {Command::Completion,
       "completion",
       "Prints a script that completes command lines in a shell.",
       {{"eval \"$(train completion bash)\"", "in this shell"},
        {"train completion fish > ~/.config/fish/completions/train.fish", "in every one to come"}}},
      {Command::Count,
       "count",
       "Prints what Torch's modules and optnet would hold for a network, by category.",
       {{"train count --model optnet/vgg_a --memopt optnet=training", "a row of optnet's second table"}}},
      {Command::Device,
       "device",
       "Lists what can be trained on and planned for; writes a GPU's description.",
       {{"train device", "what is there"},
        {"train device --dump --out gpu.json", "for train plan --device gpu.json on another machine"}}},
      {Command::Eval,
       "eval",
       "Counts how well weights do on the evaluation data.",
       {{"train eval --weights runs/lenet", "scores the best checkpoint on the run's data"}}},
      {Command::Export,
       "export",
       "Writes weights as one safetensors file, in PyTorch's layout.",
       {{"train export --weights runs/lenet --output lenet.safetensors", "the best checkpoint's"}}},
      {Command::Graph,
       "graph",
       "Draws a network for graphviz: which values share memory, before and after.",
       {{"train graph --model lenet --out lenet.dot", "then: dot -Tsvg lenet.dot -o lenet.svg"}}},
      {Command::LrFind,
       "lr-find",
       "Sweeps the learning rate over a few steps and suggests one.",
       {{"train lr-find --model lenet --out lr.html", "a suggestion, and the sweep as a picture"}}},
      {Command::Man, "man", "Prints this program's manual page.", {{"train man > train.1", "then: man -l train.1"}}},
      {Command::Pack,
       "pack",
       "Finds offsets in one arena for buffers with given lives and sizes.",
       {{"train pack buffers.csv --capacity 1048576 --out placed.csv", "the first packing that fits"}}},
      {Command::Plan,
       "plan",
       "Says to the byte what a run takes under each memory setting, and what takes less.",
       {{"train plan --model resnet20 --memory-budget 200MiB", "exits with 3 if that is not enough"},
        {"train plan --model resnet50 --batch 128 --device h200", "for a GPU that is not there"}}},
      {Command::Predict,
       "predict",
       "Says what a trained network sees in image files.",
       {{"train predict --weights runs/r20 photo.png", "the five likeliest classes"}}},
      {Command::Schema,
       "schema",
       "Prints the JSON Schema of network files, or their layers.",
       {{"train schema > net.schema.json", "for an editor that checks while one writes"},
        {"train schema --layers conv", "the keys of a layer"}}},
      {Command::Show,
       "show",
       "Prints the layers of a network, or its whole program.",
       {{"train show --model resnet20", "layers, shapes, parameters"},
        {"train show --model lenet --format program", "every op, with backward and updates"}}},
      {Command::Tables,
       "tables",
       "Prints optnet's published memory tables beside the same figures computed here.",
       {{"train tables --table 1 --measure", "one of the three, with what was measured"}}},
      {Command::Timeline,
       "timeline",
       "Draws what is in memory while each op runs, as a page for a browser.",
       {{"train timeline --model resnet110 --out timeline.html", "then open timeline.html"}}},
      {Command::Tokenize,
       "tokenize",
       "Makes tokens of text files, which a run then reads as --data tokens:DIR.",
       {{"train tokenize book.txt --tokenizer chars --out data/book", "a token for each character that occurs"},
        {"train tokenize *.txt --tokenizer gpt2/ --out data/web", "GPT-2's, by its files in gpt2/"}}},
  };
  return table;
}

const CommandInfo& info_of(Command command) {
  return *std::ranges::find(command_table(), command, &CommandInfo::command);
}

std::string call_of(const CommandInfo& info) { return *info.word ? std::string("train ") + info.word : "train"; }

}  // namespace lethe
