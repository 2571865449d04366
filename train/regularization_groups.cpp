// Options by which a network learns less by heart: varied images, averages of weights.
#include "train/data/augmentation.h"
#include "train/option_groups.h"

namespace lethe {

namespace {
using enum Fact;
}

void add_augment(OptionSet& set, Options& o) {
  set.in("Data");
  set.add_read(
         "--augment", [&o](const std::string& words) { o.data.augment = augmentation_of(words); }, "LIST",
         "none, or with commas: pad-crop=4, flip, cutout=8, random-crop; random-resized-crop, rotate=15,\n"
         "color-jitter=0.4, rand-m9-mstd0.5-inc1 (RandAugment as timm spells it), mixup=0.8, cutmix=1, mix-prob=1,\n"
         "cutmix-prob=0.5 (default: the network's)")
      ->is({Kept});
  add_sampler(set, o);
}

void add_averages(OptionSet& set, Options& o) {
  set.in("Training");
  set.add("--ema", o.program.update.ema, "X",
          "Evaluates and saves averages of the weights that keep X of themselves in each step, as 0.9999 (timm's\n"
          "ModelEmaV3; default 0: none); a run keeps the weights themselves to go on with")
      ->check(fraction())
      ->is({Kept});
}

}  // namespace lethe
