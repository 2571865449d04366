# Completion of train's command lines for bash: eval "$(train completion bash)"
_train_take() {  # arguments of compgen
  mapfile -t COMPREPLY < <(compgen "$@" -- "$word")
  [[ ${*: -1} != -[fd] ]] || compopt -o filenames 2>/dev/null
}
_train() {
  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command=
  # bash takes --model=lenet for three words
  if [[ $word == = ]]; then word=; elif [[ $previous == = ]]; then previous=${COMP_WORDS[COMP_CWORD-2]}; fi
  COMPREPLY=()
  if ((COMP_CWORD > 1)) && [[ ${COMP_WORDS[1]} != -* ]]; then command=${COMP_WORDS[1]}; fi
  if ((COMP_CWORD == 1)) && [[ $word != -* ]]; then _train_take -W 'bench completion count device env eval export generate graph import lr-find man pack plan predict schema show tables timeline tokenize'; return; fi
  case $command in
    '')
      case $previous in
        --set|--lora|--lora-targets|--lora-train|--data|--skip-bad|--batch|--workspace-limit|--threads|--memopt|--skip-vars|--micro-batch|--shards|--bucket|--timeout|--memory-budget|--overhead|--augment|--epochs|--steps|--patience|--lr|--schedule|--momentum|--beta1|--beta2|--eps|--weight-decay|--decay|--no-decay|--lr-of|--layer-decay|--loss-scale|--clip-norm|--keep-f32|--freeze|--train-only|--frozen-dtype|--ema|--seed|--save-every|--keep|--fresh|--ignore|--eval-every|--log-every) ;;
        --zero) _train_take -W '0 1 2 3 auto' ;;
        --clip-passes) _train_take -W '1 2' ;;
        --best) _train_take -W 'acc loss f1 iou' ;;
        --model) _train_take -W 'adaptive_depth alexnet bert bert_base char_gpt char_gpt_cpu char_gru char_lstm early_exit googlenet gpt2 gpt2_large gpt2_medium gpt2_xl lenet llama mlp mlp_mixer optnet/alexnet optnet/googlenet optnet/resnet110 optnet/vgg_a resnet110 resnet1202 resnet20 resnet32 resnet44 resnet50 resnet56 resnet_cifar resnet_imagenet resnext50 se_resnext152 se_resnext50 seq2seq_copy table tinyllama transformer unet vgg16 vgg_a vit vit_s16 vit_tiny' -f ;;
        --class-weights) _train_take -W 'balanced none' ;;
        --device) _train_take -W 'cpu cuda' ;;
        --state-dtype) _train_take -W 'f32 8bit' ;;
        --grad-dtype) _train_take -W 'f32 bf16 f16' ;;
        --accumulate|--param-dtype) _train_take -W 'f32 bf16' ;;
        --dtype) _train_take -W 'f32 f64 bf16 f16' ;;
        --sum-dtype) _train_take -W 'f32 f64' ;;
        --optimizer) _train_take -W 'sgd momentum nesterov adam adamw rmsprop lion adafactor' ;;
        --sampler) _train_take -W 'shuffled balanced' ;;
        --checkpoint) _train_take -W 'whole sharded' ;;
        --save-frozen) _train_take -W 'yes no' ;;
        --tokenizer|--save|--resume|--adapter|--tensorboard) _train_take -d ;;
        --autotune|--costs|--weights|--metrics|--log-json) _train_take -f ;;
        *) [[ $word == -* ]] && _train_take -W '-h --help --version --model --set --dtype --lora --lora-targets --lora-train --data --tokenizer --skip-bad --batch --device --tf32 --fast-conv --deterministic --eager --workspace-limit --no-winograd --fast-f32 --autotune --threads --memopt --skip-vars --skip-grads --print-log --micro-batch --accumulate --shards --bucket --zero --sum-dtype --sync-bn --timeout --memory-budget --overhead --costs --augment --sampler --epochs --steps --patience --lr --schedule --optimizer --momentum --beta1 --beta2 --eps --weight-decay --decay-all --decay --no-decay --lr-of --layer-decay --loss-scale --clip-norm --clip-passes --state-dtype --param-dtype --grad-dtype --keep-f32 --freeze --train-only --frozen-dtype --class-weights --ema --seed --save --save-every --keep --checkpoint --save-frozen --resume --weights --fresh --ignore --adapter --eval-every --best --log-every --metrics --log-json --tensorboard --quiet' ;;
      esac ;;
    'bench')
      case $previous in
        --set|--lora|--lora-targets|--lora-train|--data|--skip-bad|--batch|--micro-batch|--lr|--schedule|--momentum|--beta1|--beta2|--eps|--weight-decay|--decay|--no-decay|--lr-of|--layer-decay|--loss-scale|--clip-norm|--keep-f32|--freeze|--train-only|--frozen-dtype|--ema|--seed|--workspace-limit|--threads|--skip-vars|--steps|--settings|--rounds) ;;
        --clip-passes) _train_take -W '1 2' ;;
        --model) _train_take -W 'adaptive_depth alexnet bert bert_base char_gpt char_gpt_cpu char_gru char_lstm early_exit googlenet gpt2 gpt2_large gpt2_medium gpt2_xl lenet llama mlp mlp_mixer optnet/alexnet optnet/googlenet optnet/resnet110 optnet/vgg_a resnet110 resnet1202 resnet20 resnet32 resnet44 resnet50 resnet56 resnet_cifar resnet_imagenet resnext50 se_resnext152 se_resnext50 seq2seq_copy table tinyllama transformer unet vgg16 vgg_a vit vit_s16 vit_tiny' -f ;;
        --class-weights) _train_take -W 'balanced none' ;;
        --device) _train_take -W 'cpu cuda' ;;
        --state-dtype) _train_take -W 'f32 8bit' ;;
        --grad-dtype) _train_take -W 'f32 bf16 f16' ;;
        --accumulate|--param-dtype) _train_take -W 'f32 bf16' ;;
        --dtype) _train_take -W 'f32 f64 bf16 f16' ;;
        --optimizer) _train_take -W 'sgd momentum nesterov adam adamw rmsprop lion adafactor' ;;
        --format) _train_take -W 'text md csv json' ;;
        --tokenizer) _train_take -d ;;
        --autotune) _train_take -f ;;
        *) [[ $word == -* ]] && _train_take -W '-h --help --version --model --set --dtype --lora --lora-targets --lora-train --data --tokenizer --skip-bad --batch --micro-batch --accumulate --lr --schedule --optimizer --momentum --beta1 --beta2 --eps --weight-decay --decay-all --decay --no-decay --lr-of --layer-decay --loss-scale --clip-norm --clip-passes --state-dtype --param-dtype --grad-dtype --keep-f32 --freeze --train-only --frozen-dtype --class-weights --ema --seed --device --tf32 --fast-conv --deterministic --eager --workspace-limit --no-winograd --fast-f32 --autotune --threads --skip-vars --skip-grads --steps --settings --sweep --profile --rounds --count --format' ;;
      esac ;;
    'completion')
      case $previous in
        *) [[ $word == -* ]] && _train_take -W '-h --help --version' || _train_take -W 'bash zsh fish' ;;
      esac ;;
    'count')
      case $previous in
        --set|--lora|--lora-targets|--lora-train|--batch|--memopt) ;;
        --model) _train_take -W 'adaptive_depth alexnet bert bert_base char_gpt char_gpt_cpu char_gru char_lstm early_exit googlenet gpt2 gpt2_large gpt2_medium gpt2_xl lenet llama mlp mlp_mixer optnet/alexnet optnet/googlenet optnet/resnet110 optnet/vgg_a resnet110 resnet1202 resnet20 resnet32 resnet44 resnet50 resnet56 resnet_cifar resnet_imagenet resnext50 se_resnext152 se_resnext50 seq2seq_copy table tinyllama transformer unet vgg16 vgg_a vit vit_s16 vit_tiny' -f ;;
        --dtype) _train_take -W 'f32 f64 bf16 f16' ;;
        --backend) _train_take -W 'nn cudnn' ;;
        --format) _train_take -W 'text json' ;;
        *) [[ $word == -* ]] && _train_take -W '-h --help --version --model --set --dtype --lora --lora-targets --lora-train --batch --memopt --backend --format' ;;
      esac ;;
    'device')
      case $previous in
        --device) _train_take -W 'cpu cuda a100 h100 h200 l40s rtx3060 rtx3090 rtx4090 rtx5090' ;;
        --out) _train_take -f ;;
        *) [[ $word == -* ]] && _train_take -W '-h --help --version --dump --device --out' ;;
      esac ;;
    'env')
      case $previous in
        *) [[ $word == -* ]] && _train_take -W '-h --help --version --json' ;;
      esac ;;
    'eval')
      case $previous in
        --set|--lora|--lora-targets|--lora-train|--data|--skip-bad|--batch|--workspace-limit|--threads|--memopt|--skip-vars|--ignore|--seed|--top) ;;
        --model) _train_take -W 'adaptive_depth alexnet bert bert_base char_gpt char_gpt_cpu char_gru char_lstm early_exit googlenet gpt2 gpt2_large gpt2_medium gpt2_xl lenet llama mlp mlp_mixer optnet/alexnet optnet/googlenet optnet/resnet110 optnet/vgg_a resnet110 resnet1202 resnet20 resnet32 resnet44 resnet50 resnet56 resnet_cifar resnet_imagenet resnext50 se_resnext152 se_resnext50 seq2seq_copy table tinyllama transformer unet vgg16 vgg_a vit vit_s16 vit_tiny' -f ;;
        --device) _train_take -W 'cpu cuda' ;;
        --dtype) _train_take -W 'f32 f64 bf16 f16' ;;
        --format) _train_take -W 'text json' ;;
        --tokenizer|--adapter) _train_take -d ;;
        --autotune|--weights) _train_take -f ;;
        *) [[ $word == -* ]] && _train_take -W '-h --help --version --model --set --dtype --lora --lora-targets --lora-train --data --tokenizer --skip-bad --batch --device --tf32 --fast-conv --deterministic --eager --workspace-limit --no-winograd --fast-f32 --autotune --threads --memopt --skip-vars --skip-grads --print-log --weights --adapter --ignore --seed --top --by-class --confusion --format' ;;
      esac ;;
    'export')
      case $previous in
        --set|--lora|--lora-targets|--lora-train|--ignore|--seed|--opset) ;;
        --model) _train_take -W 'adaptive_depth alexnet bert bert_base char_gpt char_gpt_cpu char_gru char_lstm early_exit googlenet gpt2 gpt2_large gpt2_medium gpt2_xl lenet llama mlp mlp_mixer optnet/alexnet optnet/googlenet optnet/resnet110 optnet/vgg_a resnet110 resnet1202 resnet20 resnet32 resnet44 resnet50 resnet56 resnet_cifar resnet_imagenet resnext50 se_resnext152 se_resnext50 seq2seq_copy table tinyllama transformer unet vgg16 vgg_a vit vit_s16 vit_tiny' -f ;;
        --dtype) _train_take -W 'f32 f64 bf16 f16' ;;
        --names) _train_take -W 'huggingface timm' ;;
        --quantize) _train_take -W 'nf4 nf4-dq int8 q8_0 q4_0 q4_1' ;;
        --format) _train_take -W 'safetensors onnx gguf' ;;
        --adapter) _train_take -d ;;
        --weights|--tokenizer|--output) _train_take -f ;;
        *) [[ $word == -* ]] && _train_take -W '-h --help --version --model --set --dtype --lora --lora-targets --lora-train --weights --adapter --ignore --seed --names --merge --quantize --format --opset --preprocess --tokenizer --output' ;;
      esac ;;
    'generate')
      case $previous in
        --set|--lora|--lora-targets|--lora-train|--ignore|--data|--prompt|--tokens|--stop|--temperature|--top-k|--top-p|--seed|--workspace-limit|--threads|--memopt|--skip-vars) ;;
        --model) _train_take -W 'adaptive_depth alexnet bert bert_base char_gpt char_gpt_cpu char_gru char_lstm early_exit googlenet gpt2 gpt2_large gpt2_medium gpt2_xl lenet llama mlp mlp_mixer optnet/alexnet optnet/googlenet optnet/resnet110 optnet/vgg_a resnet110 resnet1202 resnet20 resnet32 resnet44 resnet50 resnet56 resnet_cifar resnet_imagenet resnext50 se_resnext152 se_resnext50 seq2seq_copy table tinyllama transformer unet vgg16 vgg_a vit vit_s16 vit_tiny' -f ;;
        --device) _train_take -W 'cpu cuda' ;;
        --dtype) _train_take -W 'f32 f64 bf16 f16' ;;
        --adapter|--tokenizer) _train_take -d ;;
        --weights|--autotune) _train_take -f ;;
        *) [[ $word == -* ]] && _train_take -W '-h --help --version --model --set --dtype --lora --lora-targets --lora-train --weights --adapter --ignore --data --tokenizer --prompt --tokens --stop --ignore-eos --temperature --top-k --top-p --seed --no-cache --plan --quiet --device --tf32 --fast-conv --deterministic --eager --workspace-limit --no-winograd --fast-f32 --autotune --threads --memopt --skip-vars --skip-grads' ;;
      esac ;;
    'graph')
      case $previous in
        --set|--lora|--lora-targets|--lora-train|--batch|--micro-batch|--lr|--schedule|--momentum|--beta1|--beta2|--eps|--weight-decay|--decay|--no-decay|--lr-of|--layer-decay|--loss-scale|--clip-norm|--keep-f32|--freeze|--train-only|--frozen-dtype|--ema|--workspace-limit|--threads|--memopt|--skip-vars) ;;
        --clip-passes) _train_take -W '1 2' ;;
        --model) _train_take -W 'adaptive_depth alexnet bert bert_base char_gpt char_gpt_cpu char_gru char_lstm early_exit googlenet gpt2 gpt2_large gpt2_medium gpt2_xl lenet llama mlp mlp_mixer optnet/alexnet optnet/googlenet optnet/resnet110 optnet/vgg_a resnet110 resnet1202 resnet20 resnet32 resnet44 resnet50 resnet56 resnet_cifar resnet_imagenet resnext50 se_resnext152 se_resnext50 seq2seq_copy table tinyllama transformer unet vgg16 vgg_a vit vit_s16 vit_tiny' -f ;;
        --class-weights) _train_take -W 'balanced none' ;;
        --device) _train_take -W 'cpu cuda a100 h100 h200 l40s rtx3060 rtx3090 rtx4090 rtx5090' ;;
        --state-dtype) _train_take -W 'f32 8bit' ;;
        --grad-dtype) _train_take -W 'f32 bf16 f16' ;;
        --accumulate|--param-dtype) _train_take -W 'f32 bf16' ;;
        --dtype) _train_take -W 'f32 f64 bf16 f16' ;;
        --optimizer) _train_take -W 'sgd momentum nesterov adam adamw rmsprop lion adafactor' ;;
        --autotune|--out) _train_take -f ;;
        *) [[ $word == -* ]] && _train_take -W '-h --help --version --model --set --dtype --lora --lora-targets --lora-train --batch --micro-batch --accumulate --lr --schedule --optimizer --momentum --beta1 --beta2 --eps --weight-decay --decay-all --decay --no-decay --lr-of --layer-decay --loss-scale --clip-norm --clip-passes --state-dtype --param-dtype --grad-dtype --keep-f32 --freeze --train-only --frozen-dtype --class-weights --ema --eval --device --tf32 --fast-conv --deterministic --workspace-limit --no-winograd --fast-f32 --autotune --threads --memopt --skip-vars --skip-grads --out' ;;
      esac ;;
    'import')
      case $previous in
        --outputs|--bind) ;;
        --loss) _train_take -W 'cross_entropy mse none' ;;
        --output) _train_take -f ;;
        *) [[ $word == -* ]] && _train_take -W '-h --help --version --loss --outputs --bind --no-batch --output' || _train_take -f ;;
      esac ;;
    'lr-find')
      case $previous in
        --set|--lora|--lora-targets|--lora-train|--data|--skip-bad|--batch|--workspace-limit|--threads|--memopt|--skip-vars|--augment|--min-lr|--max-lr|--steps|--momentum|--beta1|--beta2|--eps|--weight-decay|--decay|--no-decay|--lr-of|--layer-decay|--loss-scale|--clip-norm|--keep-f32|--freeze|--train-only|--frozen-dtype|--seed|--fresh|--ignore) ;;
        --clip-passes) _train_take -W '1 2' ;;
        --model) _train_take -W 'adaptive_depth alexnet bert bert_base char_gpt char_gpt_cpu char_gru char_lstm early_exit googlenet gpt2 gpt2_large gpt2_medium gpt2_xl lenet llama mlp mlp_mixer optnet/alexnet optnet/googlenet optnet/resnet110 optnet/vgg_a resnet110 resnet1202 resnet20 resnet32 resnet44 resnet50 resnet56 resnet_cifar resnet_imagenet resnext50 se_resnext152 se_resnext50 seq2seq_copy table tinyllama transformer unet vgg16 vgg_a vit vit_s16 vit_tiny' -f ;;
        --class-weights) _train_take -W 'balanced none' ;;
        --device) _train_take -W 'cpu cuda' ;;
        --state-dtype) _train_take -W 'f32 8bit' ;;
        --grad-dtype) _train_take -W 'f32 bf16 f16' ;;
        --param-dtype) _train_take -W 'f32 bf16' ;;
        --dtype) _train_take -W 'f32 f64 bf16 f16' ;;
        --optimizer) _train_take -W 'sgd momentum nesterov adam adamw rmsprop lion adafactor' ;;
        --sampler) _train_take -W 'shuffled balanced' ;;
        --format) _train_take -W 'text json' ;;
        --tokenizer) _train_take -d ;;
        --autotune|--weights|--out) _train_take -f ;;
        *) [[ $word == -* ]] && _train_take -W '-h --help --version --model --set --dtype --lora --lora-targets --lora-train --data --tokenizer --skip-bad --batch --device --tf32 --fast-conv --deterministic --eager --workspace-limit --no-winograd --fast-f32 --autotune --threads --memopt --skip-vars --skip-grads --print-log --augment --sampler --min-lr --max-lr --steps --optimizer --momentum --beta1 --beta2 --eps --weight-decay --decay-all --decay --no-decay --lr-of --layer-decay --loss-scale --clip-norm --clip-passes --state-dtype --param-dtype --grad-dtype --keep-f32 --freeze --train-only --frozen-dtype --class-weights --seed --weights --fresh --ignore --format --out' ;;
      esac ;;
    'man')
      case $previous in
        *) [[ $word == -* ]] && _train_take -W '-h --help --version' ;;
      esac ;;
    'pack')
      case $previous in
        --capacity|--time) ;;
        --out) _train_take -f ;;
        *) [[ $word == -* ]] && _train_take -W '-h --help --version --capacity --time --out' || _train_take -f ;;
      esac ;;
    'plan')
      case $previous in
        --set|--lora|--lora-targets|--lora-train|--batch|--micro-batch|--context|--shards|--bucket|--ranks|--network|--lr|--schedule|--momentum|--beta1|--beta2|--eps|--weight-decay|--decay|--no-decay|--lr-of|--layer-decay|--loss-scale|--clip-norm|--keep-f32|--freeze|--train-only|--frozen-dtype|--ema|--augment|--data|--eval-every|--workspace-limit|--threads|--memopt|--skip-vars|--memory-budget|--overhead) ;;
        --zero) _train_take -W '0 1 2 3 auto' ;;
        --clip-passes) _train_take -W '1 2' ;;
        --best) _train_take -W 'acc loss f1 iou' ;;
        --model) _train_take -W 'adaptive_depth alexnet bert bert_base char_gpt char_gpt_cpu char_gru char_lstm early_exit googlenet gpt2 gpt2_large gpt2_medium gpt2_xl lenet llama mlp mlp_mixer optnet/alexnet optnet/googlenet optnet/resnet110 optnet/vgg_a resnet110 resnet1202 resnet20 resnet32 resnet44 resnet50 resnet56 resnet_cifar resnet_imagenet resnext50 se_resnext152 se_resnext50 seq2seq_copy table tinyllama transformer unet vgg16 vgg_a vit vit_s16 vit_tiny' -f ;;
        --class-weights) _train_take -W 'balanced none' ;;
        --device) _train_take -W 'cpu cuda a100 h100 h200 l40s rtx3060 rtx3090 rtx4090 rtx5090' ;;
        --state-dtype) _train_take -W 'f32 8bit' ;;
        --grad-dtype) _train_take -W 'f32 bf16 f16' ;;
        --accumulate|--param-dtype) _train_take -W 'f32 bf16' ;;
        --dtype) _train_take -W 'f32 f64 bf16 f16' ;;
        --sum-dtype) _train_take -W 'f32 f64' ;;
        --exchange) _train_take -W 'pieces ring tree' ;;
        --optimizer) _train_take -W 'sgd momentum nesterov adam adamw rmsprop lion adafactor' ;;
        --sampler) _train_take -W 'shuffled balanced' ;;
        --autotune|--costs|--out|--csv) _train_take -f ;;
        *) [[ $word == -* ]] && _train_take -W '-h --help --version --model --set --dtype --lora --lora-targets --lora-train --batch --micro-batch --accumulate --context --shards --bucket --zero --sum-dtype --sync-bn --ranks --exchange --network --lr --schedule --optimizer --momentum --beta1 --beta2 --eps --weight-decay --decay-all --decay --no-decay --lr-of --layer-decay --loss-scale --clip-norm --clip-passes --state-dtype --param-dtype --grad-dtype --keep-f32 --freeze --train-only --frozen-dtype --class-weights --ema --augment --sampler --data --eval --eval-every --best --device --tf32 --fast-conv --deterministic --workspace-limit --no-winograd --fast-f32 --autotune --threads --memopt --skip-vars --skip-grads --print-log --memory-budget --overhead --costs --json --advise --sweep --out --csv --roofline' ;;
      esac ;;
    'predict')
      case $previous in
        --set|--lora|--lora-targets|--lora-train|--ignore|--data|--skip-bad|--batch|--top|--workspace-limit|--threads|--memopt|--skip-vars) ;;
        --model) _train_take -W 'adaptive_depth alexnet bert bert_base char_gpt char_gpt_cpu char_gru char_lstm early_exit googlenet gpt2 gpt2_large gpt2_medium gpt2_xl lenet llama mlp mlp_mixer optnet/alexnet optnet/googlenet optnet/resnet110 optnet/vgg_a resnet110 resnet1202 resnet20 resnet32 resnet44 resnet50 resnet56 resnet_cifar resnet_imagenet resnext50 se_resnext152 se_resnext50 seq2seq_copy table tinyllama transformer unet vgg16 vgg_a vit vit_s16 vit_tiny' -f ;;
        --device) _train_take -W 'cpu cuda' ;;
        --dtype) _train_take -W 'f32 f64 bf16 f16' ;;
        --format) _train_take -W 'text json' ;;
        --adapter|--tokenizer) _train_take -d ;;
        --weights|--autotune) _train_take -f ;;
        *) [[ $word == -* ]] && _train_take -W '-h --help --version --model --set --dtype --lora --lora-targets --lora-train --weights --adapter --ignore --data --tokenizer --skip-bad --batch --top --embed --format --device --tf32 --fast-conv --deterministic --eager --workspace-limit --no-winograd --fast-f32 --autotune --threads --memopt --skip-vars --skip-grads' || _train_take -f ;;
      esac ;;
    'schema')
      case $previous in
        --layers) _train_take -W 'abs acos acosh add arange array array_read array_write asin asinh atan atanh attention avg_pool bn cast ceil celu clip concat constant conv conv_transpose cos cosh cumsum div drop_path dropout elu embedding equal erf exp expand fc flatten floor gather gelu global_avg_pool global_max_pool greater group_norm hard_sigmoid hard_swish identity instance_norm layer_norm leaky_relu less linear_cross_entropy log log_softmax logical_and logical_not logical_or logical_xor lrn matmul max max_pool mean min mish mod mul pad pad_channels parameter pixel_shuffle pixel_unshuffle pow prelu reciprocal reduce_max reduce_min reduce_prod relu reshape rms_norm rope round scale selu sequence_mask shrink sigmoid sign silu sin sinh sinusoidal_positions slice softmax softplus softsign sqrt square sub sum tan tanh threshold transpose upsample where' ;;
        *) [[ $word == -* ]] && _train_take -W '-h --help --version --layers' ;;
      esac ;;
    'show')
      case $previous in
        --set|--lora|--lora-targets|--lora-train|--batch|--micro-batch|--lr|--schedule|--momentum|--beta1|--beta2|--eps|--weight-decay|--decay|--no-decay|--lr-of|--layer-decay|--loss-scale|--clip-norm|--keep-f32|--freeze|--train-only|--frozen-dtype|--ema|--workspace-limit|--threads|--memopt|--skip-vars) ;;
        --clip-passes) _train_take -W '1 2' ;;
        --model) _train_take -W 'adaptive_depth alexnet bert bert_base char_gpt char_gpt_cpu char_gru char_lstm early_exit googlenet gpt2 gpt2_large gpt2_medium gpt2_xl lenet llama mlp mlp_mixer optnet/alexnet optnet/googlenet optnet/resnet110 optnet/vgg_a resnet110 resnet1202 resnet20 resnet32 resnet44 resnet50 resnet56 resnet_cifar resnet_imagenet resnext50 se_resnext152 se_resnext50 seq2seq_copy table tinyllama transformer unet vgg16 vgg_a vit vit_s16 vit_tiny' -f ;;
        --class-weights) _train_take -W 'balanced none' ;;
        --device) _train_take -W 'cpu cuda a100 h100 h200 l40s rtx3060 rtx3090 rtx4090 rtx5090' ;;
        --state-dtype) _train_take -W 'f32 8bit' ;;
        --grad-dtype) _train_take -W 'f32 bf16 f16' ;;
        --accumulate|--param-dtype) _train_take -W 'f32 bf16' ;;
        --dtype) _train_take -W 'f32 f64 bf16 f16' ;;
        --optimizer) _train_take -W 'sgd momentum nesterov adam adamw rmsprop lion adafactor' ;;
        --format) _train_take -W 'text program json dot' ;;
        --adapter) _train_take -d ;;
        --weights|--autotune) _train_take -f ;;
        *) [[ $word == -* ]] && _train_take -W '-h --help --version --model --set --dtype --lora --lora-targets --lora-train --weights --adapter --batch --micro-batch --accumulate --lr --schedule --optimizer --momentum --beta1 --beta2 --eps --weight-decay --decay-all --decay --no-decay --lr-of --layer-decay --loss-scale --clip-norm --clip-passes --state-dtype --param-dtype --grad-dtype --keep-f32 --freeze --train-only --frozen-dtype --class-weights --ema --device --tf32 --fast-conv --deterministic --workspace-limit --no-winograd --fast-f32 --autotune --threads --memopt --skip-vars --skip-grads --format --eval' ;;
      esac ;;
    'tables')
      case $previous in
        --workspace-limit|--threads) ;;
        --table) _train_take -W '1 2 3' ;;
        --net) _train_take -W 'alexnet vgg-A googlenet resnet110' ;;
        --device) _train_take -W 'cpu cuda' ;;
        --format) _train_take -W 'text md csv json' ;;
        *) [[ $word == -* ]] && _train_take -W '-h --help --version --table --net --measure --device --tf32 --fast-conv --deterministic --eager --workspace-limit --no-winograd --fast-f32 --threads --quiet --format' ;;
      esac ;;
    'timeline')
      case $previous in
        --set|--lora|--lora-targets|--lora-train|--batch|--micro-batch|--lr|--schedule|--momentum|--beta1|--beta2|--eps|--weight-decay|--decay|--no-decay|--lr-of|--layer-decay|--loss-scale|--clip-norm|--keep-f32|--freeze|--train-only|--frozen-dtype|--ema|--workspace-limit|--threads) ;;
        --clip-passes) _train_take -W '1 2' ;;
        --model) _train_take -W 'adaptive_depth alexnet bert bert_base char_gpt char_gpt_cpu char_gru char_lstm early_exit googlenet gpt2 gpt2_large gpt2_medium gpt2_xl lenet llama mlp mlp_mixer optnet/alexnet optnet/googlenet optnet/resnet110 optnet/vgg_a resnet110 resnet1202 resnet20 resnet32 resnet44 resnet50 resnet56 resnet_cifar resnet_imagenet resnext50 se_resnext152 se_resnext50 seq2seq_copy table tinyllama transformer unet vgg16 vgg_a vit vit_s16 vit_tiny' -f ;;
        --class-weights) _train_take -W 'balanced none' ;;
        --device) _train_take -W 'cpu cuda a100 h100 h200 l40s rtx3060 rtx3090 rtx4090 rtx5090' ;;
        --state-dtype) _train_take -W 'f32 8bit' ;;
        --grad-dtype) _train_take -W 'f32 bf16 f16' ;;
        --accumulate|--param-dtype) _train_take -W 'f32 bf16' ;;
        --dtype) _train_take -W 'f32 f64 bf16 f16' ;;
        --optimizer) _train_take -W 'sgd momentum nesterov adam adamw rmsprop lion adafactor' ;;
        --autotune|--out) _train_take -f ;;
        *) [[ $word == -* ]] && _train_take -W '-h --help --version --model --set --dtype --lora --lora-targets --lora-train --batch --micro-batch --accumulate --lr --schedule --optimizer --momentum --beta1 --beta2 --eps --weight-decay --decay-all --decay --no-decay --lr-of --layer-decay --loss-scale --clip-norm --clip-passes --state-dtype --param-dtype --grad-dtype --keep-f32 --freeze --train-only --frozen-dtype --class-weights --ema --eval --device --tf32 --fast-conv --deterministic --workspace-limit --no-winograd --fast-f32 --autotune --threads --out' ;;
      esac ;;
    'tokenize')
      case $previous in
        --end-token|--separator|--val|--shard-tokens) ;;
        --out|--tokenizer) _train_take -d ;;
        *) [[ $word == -* ]] && _train_take -W '-h --help --version --out --tokenizer --end-token --separator --val --shard-tokens --quiet' ;;
      esac ;;
  esac
  return 0
}
complete -F _train train
