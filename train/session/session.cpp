#include "train/session/session.h"

#include "framework/error.h"
#include "train/session/device.h"
#include "train/session/fed_data.h"
#include "train/session/trainer.h"

namespace lethe {
Session::Session(SessionSetting setting, Notify notify) : setting_(std::move(setting)), notify_(std::move(notify)) {
  fit_to_data(setting_.program.network, setting_.data);
  if (setting_.peers) setting_.program.shards.rank = setting_.peers->rank();
  setting_.program.mixes = setting_.data.augment.mixing.any();
  std::optional<PixelNorm>& pixels = setting_.program.pixels;
  pixels.reset();
  if (is_gpu(setting_.device))
    if (const Network network = build_network(setting_.program.network, setting_.program.training);
        is_fed_by_data(network)) {
      open(network);
      pixels = data_->pixels();
    }
  programs_ = build_programs(setting_.program);
}

void Session::open(const Network& network) {
  std::shared_ptr<const Samples> samples = setting_.data.samples;
  if (samples)
    check_means(setting_.data.known, samples->meaning(), samples->name());
  else
    samples = open_data(setting_.data, setting_.program.network.seed, network, notify_, setting_.data.known);
  check_fed(network, *samples);
  data_ = std::move(samples);
}

const Samples& Session::data() {
  if (!data_) open(network());
  return *data_;
}

MeteredDevice& Session::device() {
  if (!device_) device_ = std::make_unique<MeteredDevice>(open_device(setting_.device), setting_.peers);
  return *device_;
}

Batches& Session::batches() {
  if (batches_) return *batches_;
  const NetworkSetting& of = setting_.program.network;
  const Samples& samples = data();
  const Rank rank = setting_.program.shards.rank;
  const DType dtype = network().program.vars[fed_inputs(network()).samples].dtype;
  BatchOptions options = training_batches(of.batch / rank.of, dtype, setting_.data.augment, of.seed);
  options.balanced = setting_.data.balanced;
  options.rank = rank;
  batches_ = std::make_unique<Batches>(samples, options, device());
  return *batches_;
}

const Plans& Session::plan() {
  if (plans_) return *plans_;
  prepared_ = std::make_unique<Prepared>(device());
  plans_ = plan_programs(programs_, setting_.program.evaluated, setting_.program.memory, *prepared_);
  setting_.program.memory.levels.costs.seconds_of = {};  // which may hold memory
  check_budget(setting_.program, *plans_);
  return *plans_;
}

Prepared& Session::prepared() {
  plan();
  return *prepared_;
}

Executor& Session::executor() {
  if (executor_) return *executor_;
  const Plans& plans = plan();
  device_->connect(setting_.patience);
  const Samples* const samples = setting_.program.evaluated ? &data() : nullptr;
  device_->reserve(reserved_bytes({&plans.training, &plans.evaluation}, plans.arena, device_->info().alignment));
  store_ = std::make_unique<Store>(*device_);
  arena_ = with_context("the arena", [&] { return std::make_unique<Buffer>(*device_, plans.arena); });
  auto executor = std::make_unique<Executor>(plans.training.program, plans.training.plan, *prepared_, *store_, arena());
  if (samples) evaluator_ = evaluator_of(*samples);
  start_.state.elsewhere = fill_store(start_, setting_.program.network.seed, weights_, network(), *store_, notify_);
  if (network().class_weights != kNone && start_.checkpoint.empty())  // else they are the run's
    fill_class_weights(setting_.program.network.class_weights, data(), network(), *store_);
  executor_ = std::move(executor);
  return *executor_;
}

Store& Session::store() {
  executor();
  return *store_;
}

Evaluator* Session::evaluator() {
  executor();
  if (!evaluator_ && setting_.program.evaluated) evaluator_ = evaluator_of(data());
  return evaluator_.get();
}

void Session::rest() {
  batches_.reset();
  evaluator_.reset();
}

std::unique_ptr<Evaluator> Session::evaluator_of(const Samples& samples) {
  return std::make_unique<Evaluator>(programs_.evaluation, plans_->evaluation, *prepared_, *store_, samples, arena());
}

void Session::learn_from(std::shared_ptr<const Samples> samples) {
  check_fed(network(), *samples);
  check_means(setting_.data.known, samples->meaning(), samples->name());
  batches_.reset();
  evaluator_.reset();
  data_ = std::move(samples);
  if (executor_ && setting_.program.evaluated) evaluator_ = evaluator_of(*data_);
}

Scores Session::scores_of(const Samples& samples) {
  executor();
  check(setting_.program.evaluated, "`eval_every` 0 says that the network is never evaluated");
  check_fed(network(), samples);
  evaluator_.reset();  // whose memory it takes, where there is no arena
  try {
    const Scores scores = evaluator_of(samples)->run();
    evaluator_ = evaluator_of(data());
    return scores;
  } catch (...) {
    if (!evaluator_) evaluator_ = evaluator_of(data());
    throw;
  }
}

std::unique_ptr<Executor> Session::executor_of(const Planned& planned) {
  executor();
  const std::vector<PlannedBuffer>& buffers = planned.plan.buffers;
  const bool has_room = arena() && !buffers.empty() && buffers.front().bytes <= arena()->bytes();
  return std::make_unique<Executor>(planned.program, planned.plan, *prepared_, *store_, has_room ? arena() : nullptr);
}

void Session::fill_from(const Start& start, const WeightsSetting& weights) {
  start_ = start;
  weights_ = weights;
}

Record Session::train(const RunSetting& run, Listener& listener, Checkpoints* checkpoints) {
  executor();  // what it fills is a part of the state
  Trainer trainer({.setting = run,
                   .programs = programs_,
                   .executor = executor(),
                   .batches = batches(),
                   .evaluator = evaluator(),
                   .store = store(),
                   .checkpoints = checkpoints,
                   .device = device(),
                   .listener = listener,
                   .moves = start_.moves},
                  start_.state);
  const auto ended = [&] {
    start_.state = trainer.state();
    executor_->drop_next();  // a batch that is fed ahead is of this run alone
  };
  try {
    trainer.run();
  } catch (...) {
    ended();
    throw;
  }
  ended();
  return trainer.last();
}

Record Session::train(const RunSetting& run) {
  Listener silent;
  return train(run, silent);
}

}  // namespace lethe
