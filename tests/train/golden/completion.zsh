#compdef train
# Completion of train's command lines for zsh: a file _train in a directory of $fpath.
_train_words_or_files() { compadd -- "$@"; _files }
_train() {
  local command=
  local -a commands=(
    'bench:Runs memory settings against each other\: bytes planned and taken, time, losses.'
    'completion:Prints a script that completes command lines in a shell.'
    'count:Prints what Torch'\''s modules and optnet would hold for a network, by category.'
    'device:Lists what can be trained on and planned for; writes a GPU'\''s description.'
    'env:Says what a bug report needs\: version, libraries, processor, GPUs, threads, limits of memory.'
    'eval:Counts how well weights do on the evaluation data.'
    'export:Writes weights as one safetensors file, in PyTorch'\''s layout, networks as ONNX or GGUF, or adapters as PEFT has them.'
    'generate:Writes on from a prompt, as a network that was trained on text does.'
    'graph:Draws a network for graphviz\: which values share memory, before and after.'
    'import:Makes a network file and a file of weights of an ONNX model.'
    'lr-find:Sweeps the learning rate over a few steps and suggests one.'
    'man:Prints this program'\''s manual page.'
    'pack:Finds offsets in one arena for buffers with given lives and sizes.'
    'plan:Says to the byte what a run takes under each memory setting, and what takes less.'
    'predict:Says what a trained network sees in image files, texts or tables.'
    'schema:Prints the JSON Schema of network files, or their layers.'
    'show:Prints the layers of a network, or its whole program.'
    'tables:Prints optnet'\''s published memory tables beside the same figures computed here.'
    'timeline:Draws what is in memory while each op runs, as a page for a browser.'
    'tokenize:Makes tokens of text files, which a run then reads as --data tokens\:DIR.'
  )
  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then _describe command commands; return; fi
  if [[ $words[2] != -* ]]; then command=$words[2]; shift words; (( CURRENT-- )); fi
  case $command in
    '') _arguments \
      '-h[Print this help message and exit]' \
      '--help[Print this help message and exit]' \
      '--version[Display program version information and exit]' \
      '--model=[Network\: a name of the zoo, a JSON file, hf\:DIR, a folder of Hugging Face, or gguf\:FILE]:NAME|FILE: _train_words_or_files adaptive_depth alexnet bert bert_base char_gpt char_gpt_cpu char_gru char_lstm early_exit googlenet gpt2 gpt2_large gpt2_medium gpt2_xl lenet llama mlp mlp_mixer optnet/alexnet optnet/googlenet optnet/resnet110 optnet/vgg_a resnet110 resnet1202 resnet20 resnet32 resnet44 resnet50 resnet56 resnet_cifar resnet_imagenet resnext50 se_resnext152 se_resnext50 seq2seq_copy table tinyllama transformer unet vgg16 vgg_a vit vit_s16 vit_tiny' \
      '--set=[Sets a var of the network file; may be repeated]:K=V: ' \
      '--dtype=[Numbers\: f32, f64; bf16 or f16 with parameters and statistics in f32 (default f32)]:TYPE:(f32 f64 bf16 f16)' \
      '--lora=[Trains low-rank adapters beside weights that stay as they are, as '\''r=16,alpha=32,dropout=0.05,rslora'\'', or some of these words (default r=8,alpha=8); none\: there are none]:[WORDS]: ' \
      '--lora-targets=[Layers with adapters\: names or their ends, ours or a library'\''s, as '\''q_proj,v_proj'\'', * for any characters, with =RANK or =RANK/ALPHA of their own; all-linear\: all but the output'\''s (default\: the network'\''s)]:NAMES: ' \
      '--lora-train=[Of --lora\: trains these parameters beside the adapters, as '\''*.bias,logits.*'\''; none\: the adapters alone]:NAMES: ' \
      '--data=[mnist\:DIR, cifar10\:DIR, cifar100\:DIR, imagefolder\:DIR, shapes; masks\:IMAGES,MASKS, shape-masks; text\:FILE, jsonl\:FILE, tokens\:DIR, sentences, copy; tsv\:PATH, subjects; csv\:FILE,target=NAME, npy\:NAME=FILE, numbers; synthetic (default\: shapes, shape-masks, sentences, subjects or numbers, made to the network'\''s size); after files ,val=X holds that share of them out for tests, and after masks ,ignore=N says which value does not count]:SPEC: ' \
      '--tokenizer=[Folder whose tokenizer makes tokens of texts that are no tokens yet\: tokenizer.json, tokenizer.model, vocab.txt, or GPT-2'\''s vocab.json and merges.txt (default\: the run'\''s)]:DIR:_files -/' \
      '--skip-bad=[Leaves out up to N image files that cannot be read; each is tried at the beginning (default 0)]:N: ' \
      '--batch=[Samples a step (default\: the network'\''s); auto\: the largest that the memory has room for]:N: ' \
      '--device=[cpu, cuda, cuda\:1... (default cpu)]:NAME:(cpu cuda)' \
      '--tf32[On a GPU\: convolutions and products may round f32 factors to TF32]' \
      '--fast-conv[On a GPU\: convolutions may round more\: Winograd'\''s algorithm, FFT, factors and sums in less than f32]' \
      '--deterministic[On a GPU\: the same bits in every run (the CPU gives them anyway)]' \
      '--eager[On a GPU\: runs steps launch by launch, not as a recorded graph]' \
      '--workspace-limit=[On a GPU\: scratch memory that one convolution may take (default 1GiB)]:SIZE: ' \
      '--no-winograd[On a CPU\: no convolutions by Winograd'\''s algorithm, which is faster for 3x3 and 5x5 kernels of stride 1, but rounds up to three times as much and takes more scratch memory]' \
      '--fast-f32[On a CPU with AMX\: f32 convolutions as three of bf16, which round more]' \
      '--autotune=[Takes for each convolution the algorithm (on a GPU cuDNN'\''s engine) that is fastest here, which is tried once and kept in FILE (default\: by rule)]:FILE:_files' \
      '--threads=[Worker threads (default 0\: one a processor)]:N: ' \
      '--memopt=[none\: a buffer for each variable; level=0\: those of dead variables of the same shape; level=1\: of any dead one that is large enough; each with ,release (given back within the step) and ,inplace; level=2\: one exact arena, and as much computed again as a hundredth of a step pays for; level=3\: all that a budget or an overhead asks for computed again; optnet=training (eval\: optnet=inference)\: the modules and sharing of optnet'\''s tables (default level=2)]:SETTING: ' \
      '--skip-vars=[Variables that keep memory of their own]:A,B: ' \
      '--skip-grads[So does each parameter gradient given to an optimizer op]' \
      '--print-log[Prints what each step of the planner changes, who takes whose memory, and why others do not]' \
      '--micro-batch=[Samples that go through the network at once (default\: the batch); a step sums the gradients of all of them. Batch norm takes its statistics of these; auto\: the most that fit]:M: ' \
      '--accumulate=[Sums of the parts'\'' gradients\: bf16, each rounded up or down by chance, or f32 (default)]:TYPE:(f32 bf16)' \
      '--shards=[Equal parts of a batch that go through the network one by one, on whichever rank\: the same shards give the same bits on 1, 2, 4... ranks (default 1; started by mpirun up to 8)]:V: ' \
      '--bucket=[Small gradients are summed over ranks in buckets of at least so much (default 1MiB)]:SIZE: ' \
      '--zero=[What each rank has a share of alone (ZeRO)\: 1 states of the update, 2 gradients too, 3 parameters too (default 0\: nothing); auto\: whichever of these sends least and fits the --memory-budget]:STAGE:(0 1 2 3 auto)' \
      '--sum-dtype=[What shards give is summed in this, and rounded once\: f32 or f64 (default f32)]:TYPE:(f32 f64)' \
      '--sync-bn[Batch norm takes its statistics over all shards (default\: each of its own)]' \
      '--timeout=[Seconds that ranks wait for one another, then all of them end (default 120)]:S: ' \
      '--memory-budget=[All that the device is asked for\: 800MiB, 2GiB, 1500000000. Unless --memopt says another level, as little as it takes is computed again (level=3); exits with 3 if nothing fits]:SIZE: ' \
      '--overhead=[Of level=3\: what computing again may take of a step, such as 5% (default\: as much as a forward pass)]:SHARE: ' \
      '--costs=[Of level=3\: weighs ops by what their kernels take here, which is measured once and kept in FILE, or on a kind of processor\: avx2, avx512 (default\: by their operations and bytes)]:FILE|CPU:_files' \
      '--augment=[none, or with commas\: pad-crop=4, flip, cutout=8, random-crop; random-resized-crop, rotate=15, color-jitter=0.4, rand-m9-mstd0.5-inc1 (RandAugment as timm spells it), mixup=0.8, cutmix=1, mix-prob=1, cutmix-prob=0.5 (default\: the network'\''s)]:LIST: ' \
      '--sampler=[shuffled\: each sample once an epoch (default); balanced\: each class is drawn alike, with replacement]:WORD:(shuffled balanced)' \
      '--epochs=[Passes over the data (default\: the network'\''s)]:E: ' \
      '--steps=[Steps, instead of epochs]:S: ' \
      '--patience=[Stops when N evaluations in a row bring nothing better (default\: the network'\''s, else 0\: never)]:N: ' \
      '--lr=[Learning rate (default\: the network'\''s)]:X: ' \
      '--schedule=[Course of the learning rate\: constant, cosine, poly, one-cycle, step@30ex0.1, exp@1ex0.95, multistep@80e,120ex0.1; after any but one-cycle a warm-up\: +warmup@500 (default\: the network'\''s)]:SPEC: ' \
      '--optimizer=[sgd, momentum, nesterov, adam, adamw, rmsprop, lion or adafactor (default\: the network'\''s)]:NAME:(sgd momentum nesterov adam adamw rmsprop lion adafactor)' \
      '--momentum=[Momentum (default\: the network'\''s)]:X: ' \
      '--beta1=[Of adam, adamw and lion\: what the mean of gradients keeps (default 0.9)]:X: ' \
      '--beta2=[Of adam and adamw\: what the mean of their squares keeps (default 0.999); of lion\: what the mean of gradients keeps for the next step (default 0.99)]:X: ' \
      '--eps=[Of adam, adamw and rmsprop\: what is added to a root (default 1e-8)]:X: ' \
      '--weight-decay=[Weight decay, not on bias and norm (default\: the network'\''s)]:X: ' \
      '--decay-all[Weight decay on bias and norm too]' \
      '--decay=[Weight decay on these parameters too\: names with commas between, * for any characters]:NAMES: ' \
      '--no-decay=[No weight decay on these parameters, as '\''tokens.*,positions.*'\'']:NAMES: ' \
      '--lr-of=[Learning rates of their own, as '\''head.*=10x,norm.*=3e-4'\''\: times that of the others, or a rate that follows the schedule too; * stands for any characters, and the last that means a parameter counts; none\: all have the same]:RATES: ' \
      '--layer-decay=[Each layer has X times the learning rate of the layer above it, the head all of it (default 1)]:X: ' \
      '--loss-scale=[Of --dtype f16\: what the loss is scaled by at first (default 65536); it halves and doubles by itself]:X: ' \
      '--clip-norm=[Scales gradients down to this global norm; 0\: no limit (default\: the network'\''s)]:X: ' \
      '--clip-passes=[2\: backward runs twice, first for the norm of all gradients and then for the updates, so that none stands until the last is there; same results (default 1; at level=3 2 where a budget needs it)]:N:(1 2)' \
      '--state-dtype=[Of the optimizer'\''s states\: 8bit for momentum, nesterov, adam, adamw and lion, but of small parameters and tables of embeddings, or f32 (default\: as parameters are computed)]:TYPE:(f32 8bit)' \
      '--param-dtype=[Of trained parameters of two axes or more\: bf16, which updates round by chance, or f32 (default)]:TYPE:(f32 bf16)' \
      '--grad-dtype=[Of gradients of parameters of two axes or more\: bf16 or f16, as --dtype, in which backward computes them and PyTorch keeps them, or f32 (default)]:TYPE:(f32 bf16 f16)' \
      '--keep-f32=[Of --state-dtype 8bit and --param-dtype bf16\: these parameters and their states stay in f32, as '\''logits.*'\''; none\: no others]:NAMES: ' \
      '--freeze=[Leaves these parameters as they are\: names, ours or a library'\''s, with commas between, * for any characters, as '\''tokens.*,block*'\''; none\: trains all]:NAMES: ' \
      '--train-only=[Trains these parameters and leaves all others; none\: trains all]:NAMES: ' \
      '--frozen-dtype=[Of frozen parameters of two axes or more\: bf16 or f16 halve them, int8 and q8_0 take a quarter, q4_0, q4_1, nf4 and nf4-dq an eighth, f32 (default\: as all others); or by names, of which the first that mean a parameter count\: '\''tokens.*=q8_0,logits.*=q8_0,*=nf4-dq'\'']:TYPE: ' \
      '--class-weights=[What a label of each class counts in the loss\: a number for each; balanced\: the more the fewer there are for training; none\: all alike (default)]:W,..:(balanced none)' \
      '--ema=[Evaluates and saves averages of the weights that keep X of themselves in each step, as 0.9999 (timm'\''s ModelEmaV3; default 0\: none); a run keeps the weights themselves to go on with]:X: ' \
      '--seed=[Seed of initial weights, data order and dropout (default 0)]:N: ' \
      '--save=[Writes checkpoints there\: the newest and the best by evaluation]:DIR:_files -/' \
      '--save-every=[Every N steps, or N epochs with an e after it (default 1e)]:N|Ne: ' \
      '--keep=[Newest checkpoints kept, beside the best (default 2)]:N: ' \
      '--checkpoint=[whole\: one rank writes all of it (default); sharded\: each rank a file with its share of every tensor]:FORM:(whole sharded)' \
      '--save-frozen=[yes\: checkpoints hold frozen weights; no\: they name the file of --weights and its SHA-256, and whoever reads them needs it (default\: yes; with --lora no, where a file has them that is no checkpoint of a run)]:WORD:(yes no)' \
      '--resume=[Goes on, bit for bit, where a run stopped, with its settings; auto\: if --save has one]:DIR|auto:_files -/' \
      '--weights=[Starts from these weights; of a checkpoint directory the best; none\: from no weights of hf\:DIR]:FILE|DIR:_files' \
      '--fresh=[Of --weights\: these may be missing there or of another shape, and are made anew then by the seed\: names with commas between, * for any characters, as '\''logits.*'\''; the network'\''s, or the file'\''s own]:NAMES: ' \
      '--ignore=[Of --weights\: tensors of the file that are taken as if they were not there, as '\''head.*'\'']:NAMES: ' \
      '--adapter=[Low-rank adapters beside --weights, a folder as Hugging Face'\''s PEFT saves them\: adapter_config.json, which says --lora and its targets, and adapter_model.safetensors]:DIR:_files -/' \
      '--eval-every=[Evaluates every N steps or Ne epochs; 0 never (default 1e)]:N|Ne: ' \
      '--best=[By what the best evaluation is chosen\: acc (default), loss, f1 or iou; means over classes need room for the logits]:MEASURE:(acc loss f1 iou)' \
      '--log-every=[Steps between records (default 0\: about one a second)]:N: ' \
      '--metrics=[Writes records as CSV; a resumed run goes on in it (default with --save\: DIR/metrics.csv)]:FILE:_files' \
      '--log-json=[The same records as JSON lines]:FILE:_files' \
      '--tensorboard=[The same records as an event file for TensorBoard]:DIR:_files -/' \
      '--quiet[No progress; results and errors only]' ;;
    'bench') _arguments \
      '-h[Print this help message and exit]' \
      '--help[Print this help message and exit]' \
      '--version[Display program version information and exit]' \
      '--model=[Network\: a name of the zoo, a JSON file, hf\:DIR, a folder of Hugging Face, or gguf\:FILE]:NAME|FILE: _train_words_or_files adaptive_depth alexnet bert bert_base char_gpt char_gpt_cpu char_gru char_lstm early_exit googlenet gpt2 gpt2_large gpt2_medium gpt2_xl lenet llama mlp mlp_mixer optnet/alexnet optnet/googlenet optnet/resnet110 optnet/vgg_a resnet110 resnet1202 resnet20 resnet32 resnet44 resnet50 resnet56 resnet_cifar resnet_imagenet resnext50 se_resnext152 se_resnext50 seq2seq_copy table tinyllama transformer unet vgg16 vgg_a vit vit_s16 vit_tiny' \
      '--set=[Sets a var of the network file; may be repeated]:K=V: ' \
      '--dtype=[Numbers\: f32, f64; bf16 or f16 with parameters and statistics in f32 (default f32)]:TYPE:(f32 f64 bf16 f16)' \
      '--lora=[Trains low-rank adapters beside weights that stay as they are, as '\''r=16,alpha=32,dropout=0.05,rslora'\'', or some of these words (default r=8,alpha=8); none\: there are none]:[WORDS]: ' \
      '--lora-targets=[Layers with adapters\: names or their ends, ours or a library'\''s, as '\''q_proj,v_proj'\'', * for any characters, with =RANK or =RANK/ALPHA of their own; all-linear\: all but the output'\''s (default\: the network'\''s)]:NAMES: ' \
      '--lora-train=[Of --lora\: trains these parameters beside the adapters, as '\''*.bias,logits.*'\''; none\: the adapters alone]:NAMES: ' \
      '--data=[mnist\:DIR, cifar10\:DIR, cifar100\:DIR, imagefolder\:DIR, shapes; masks\:IMAGES,MASKS, shape-masks; text\:FILE, jsonl\:FILE, tokens\:DIR, sentences, copy; tsv\:PATH, subjects; csv\:FILE,target=NAME, npy\:NAME=FILE, numbers; synthetic (default\: shapes, shape-masks, sentences, subjects or numbers, made to the network'\''s size); after files ,val=X holds that share of them out for tests, and after masks ,ignore=N says which value does not count]:SPEC: ' \
      '--tokenizer=[Folder whose tokenizer makes tokens of texts that are no tokens yet\: tokenizer.json, tokenizer.model, vocab.txt, or GPT-2'\''s vocab.json and merges.txt (default\: the run'\''s)]:DIR:_files -/' \
      '--skip-bad=[Leaves out up to N image files that cannot be read; each is tried at the beginning (default 0)]:N: ' \
      '--batch=[Samples a step (default\: the network'\''s)]:N: ' \
      '--micro-batch=[Samples that go through the network at once (default\: the batch); a step sums the gradients of all of them. Batch norm takes its statistics of these]:M: ' \
      '--accumulate=[Sums of the parts'\'' gradients\: bf16, each rounded up or down by chance, or f32 (default)]:TYPE:(f32 bf16)' \
      '--lr=[Learning rate (default\: the network'\''s)]:X: ' \
      '--schedule=[Course of the learning rate\: constant, cosine, poly, one-cycle, step@30ex0.1, exp@1ex0.95, multistep@80e,120ex0.1; after any but one-cycle a warm-up\: +warmup@500 (default\: the network'\''s)]:SPEC: ' \
      '--optimizer=[sgd, momentum, nesterov, adam, adamw, rmsprop, lion or adafactor (default\: the network'\''s)]:NAME:(sgd momentum nesterov adam adamw rmsprop lion adafactor)' \
      '--momentum=[Momentum (default\: the network'\''s)]:X: ' \
      '--beta1=[Of adam, adamw and lion\: what the mean of gradients keeps (default 0.9)]:X: ' \
      '--beta2=[Of adam and adamw\: what the mean of their squares keeps (default 0.999); of lion\: what the mean of gradients keeps for the next step (default 0.99)]:X: ' \
      '--eps=[Of adam, adamw and rmsprop\: what is added to a root (default 1e-8)]:X: ' \
      '--weight-decay=[Weight decay, not on bias and norm (default\: the network'\''s)]:X: ' \
      '--decay-all[Weight decay on bias and norm too]' \
      '--decay=[Weight decay on these parameters too\: names with commas between, * for any characters]:NAMES: ' \
      '--no-decay=[No weight decay on these parameters, as '\''tokens.*,positions.*'\'']:NAMES: ' \
      '--lr-of=[Learning rates of their own, as '\''head.*=10x,norm.*=3e-4'\''\: times that of the others, or a rate that follows the schedule too; * stands for any characters, and the last that means a parameter counts; none\: all have the same]:RATES: ' \
      '--layer-decay=[Each layer has X times the learning rate of the layer above it, the head all of it (default 1)]:X: ' \
      '--loss-scale=[Of --dtype f16\: what the loss is scaled by at first (default 65536); it halves and doubles by itself]:X: ' \
      '--clip-norm=[Scales gradients down to this global norm; 0\: no limit (default\: the network'\''s)]:X: ' \
      '--clip-passes=[2\: backward runs twice, first for the norm of all gradients and then for the updates, so that none stands until the last is there; same results (default 1; at level=3 2 where a budget needs it)]:N:(1 2)' \
      '--state-dtype=[Of the optimizer'\''s states\: 8bit for momentum, nesterov, adam, adamw and lion, but of small parameters and tables of embeddings, or f32 (default\: as parameters are computed)]:TYPE:(f32 8bit)' \
      '--param-dtype=[Of trained parameters of two axes or more\: bf16, which updates round by chance, or f32 (default)]:TYPE:(f32 bf16)' \
      '--grad-dtype=[Of gradients of parameters of two axes or more\: bf16 or f16, as --dtype, in which backward computes them and PyTorch keeps them, or f32 (default)]:TYPE:(f32 bf16 f16)' \
      '--keep-f32=[Of --state-dtype 8bit and --param-dtype bf16\: these parameters and their states stay in f32, as '\''logits.*'\''; none\: no others]:NAMES: ' \
      '--freeze=[Leaves these parameters as they are\: names, ours or a library'\''s, with commas between, * for any characters, as '\''tokens.*,block*'\''; none\: trains all]:NAMES: ' \
      '--train-only=[Trains these parameters and leaves all others; none\: trains all]:NAMES: ' \
      '--frozen-dtype=[Of frozen parameters of two axes or more\: bf16 or f16 halve them, int8 and q8_0 take a quarter, q4_0, q4_1, nf4 and nf4-dq an eighth, f32 (default\: as all others); or by names, of which the first that mean a parameter count\: '\''tokens.*=q8_0,logits.*=q8_0,*=nf4-dq'\'']:TYPE: ' \
      '--class-weights=[What a label of each class counts in the loss\: a number for each; balanced\: the more the fewer there are for training; none\: all alike (default)]:W,..:(balanced none)' \
      '--ema=[Evaluates and saves averages of the weights that keep X of themselves in each step, as 0.9999 (timm'\''s ModelEmaV3; default 0\: none); a run keeps the weights themselves to go on with]:X: ' \
      '--seed=[Seed of initial weights, data order and dropout (default 0)]:N: ' \
      '--device=[cpu, cuda, cuda\:1... (default cpu)]:NAME:(cpu cuda)' \
      '--tf32[On a GPU\: convolutions and products may round f32 factors to TF32]' \
      '--fast-conv[On a GPU\: convolutions may round more\: Winograd'\''s algorithm, FFT, factors and sums in less than f32]' \
      '--deterministic[On a GPU\: the same bits in every run (the CPU gives them anyway)]' \
      '--eager[On a GPU\: runs steps launch by launch, not as a recorded graph]' \
      '--workspace-limit=[On a GPU\: scratch memory that one convolution may take (default 1GiB)]:SIZE: ' \
      '--no-winograd[On a CPU\: no convolutions by Winograd'\''s algorithm, which is faster for 3x3 and 5x5 kernels of stride 1, but rounds up to three times as much and takes more scratch memory]' \
      '--fast-f32[On a CPU with AMX\: f32 convolutions as three of bf16, which round more]' \
      '--autotune=[Takes for each convolution the algorithm (on a GPU cuDNN'\''s engine) that is fastest here, which is tried once and kept in FILE (default\: by rule)]:FILE:_files' \
      '--threads=[Worker threads (default 0\: one a processor)]:N: ' \
      '--skip-vars=[Variables that keep memory of their own]:A,B: ' \
      '--skip-grads[So does each parameter gradient given to an optimizer op]' \
      '--steps=[Steps a process (default 12)]:S: ' \
      '--settings=[Settings of --memopt, with semicolons between them; after one also other options, as in "level=2;level=3 --memory-budget 2GiB" (default "none;level=0;level=1;level=1,release;level=2")]:LIST: ' \
      '--sweep[Instead\: level=3 at several prices, from none on, and level=2]' \
      '--profile[Instead\: where the time of a step goes, by op and by whose code runs it]' \
      '--rounds=[Processes a setting, in turns (default 3)]:N: ' \
      '--count[Instead\: launches and bytes moved of a step at level=2, by op, on a GPU that need not be there]' \
      '--format=[text (default), md, csv, json]:FORM:(text md csv json)' ;;
    'completion') _arguments \
      '-h[Print this help message and exit]' \
      '--help[Print this help message and exit]' \
      '--version[Display program version information and exit]' \
      ':SHELL:(bash zsh fish)' ;;
    'count') _arguments \
      '-h[Print this help message and exit]' \
      '--help[Print this help message and exit]' \
      '--version[Display program version information and exit]' \
      '--model=[Network\: a name of the zoo, a JSON file, hf\:DIR, a folder of Hugging Face, or gguf\:FILE]:NAME|FILE: _train_words_or_files adaptive_depth alexnet bert bert_base char_gpt char_gpt_cpu char_gru char_lstm early_exit googlenet gpt2 gpt2_large gpt2_medium gpt2_xl lenet llama mlp mlp_mixer optnet/alexnet optnet/googlenet optnet/resnet110 optnet/vgg_a resnet110 resnet1202 resnet20 resnet32 resnet44 resnet50 resnet56 resnet_cifar resnet_imagenet resnext50 se_resnext152 se_resnext50 seq2seq_copy table tinyllama transformer unet vgg16 vgg_a vit vit_s16 vit_tiny' \
      '--set=[Sets a var of the network file; may be repeated]:K=V: ' \
      '--dtype=[Numbers\: f32, f64; bf16 or f16 with parameters and statistics in f32 (default f32)]:TYPE:(f32 f64 bf16 f16)' \
      '--lora=[Trains low-rank adapters beside weights that stay as they are, as '\''r=16,alpha=32,dropout=0.05,rslora'\'', or some of these words (default r=8,alpha=8); none\: there are none]:[WORDS]: ' \
      '--lora-targets=[Layers with adapters\: names or their ends, ours or a library'\''s, as '\''q_proj,v_proj'\'', * for any characters, with =RANK or =RANK/ALPHA of their own; all-linear\: all but the output'\''s (default\: the network'\''s)]:NAMES: ' \
      '--lora-train=[Of --lora\: trains these parameters beside the adapters, as '\''*.bias,logits.*'\''; none\: the adapters alone]:NAMES: ' \
      '--batch=[Samples (default\: the network'\''s)]:N: ' \
      '--memopt=[optnet=inference (default) or optnet=training; with commas after it inplace, reuse_buffers, remove_grad_params or none (default\: all three)]:SETTING: ' \
      '--backend=[Whose modules\: nn (Torch'\''s own, on the CPU) or cudnn (default\: nn for f64, cudnn for f32)]:NAME:(nn cudnn)' \
      '--format=[text (default), json]:FORM:(text json)' ;;
    'device') _arguments \
      '-h[Print this help message and exit]' \
      '--help[Print this help message and exit]' \
      '--version[Display program version information and exit]' \
      '--dump[Writes a GPU'\''s description, for train plan on another machine]' \
      '--device=[cpu, cuda, cuda\:1... (default cuda); or a GPU that is not there\: a100, h100, h200, l40s, rtx3060, rtx3090, rtx4090, rtx5090, or a JSON file that describes one; ,memory=SIZE after it\: with so much memory]:NAME:(cpu cuda a100 h100 h200 l40s rtx3060 rtx3090 rtx4090 rtx5090)' \
      '--out=[Writes it there (default\: standard output)]:FILE:_files' ;;
    'env') _arguments \
      '-h[Print this help message and exit]' \
      '--help[Print this help message and exit]' \
      '--version[Display program version information and exit]' \
      '--json[The same as JSON]' ;;
    'eval') _arguments \
      '-h[Print this help message and exit]' \
      '--help[Print this help message and exit]' \
      '--version[Display program version information and exit]' \
      '--model=[Network\: a name of the zoo, a JSON file, hf\:DIR, a folder of Hugging Face, or gguf\:FILE]:NAME|FILE: _train_words_or_files adaptive_depth alexnet bert bert_base char_gpt char_gpt_cpu char_gru char_lstm early_exit googlenet gpt2 gpt2_large gpt2_medium gpt2_xl lenet llama mlp mlp_mixer optnet/alexnet optnet/googlenet optnet/resnet110 optnet/vgg_a resnet110 resnet1202 resnet20 resnet32 resnet44 resnet50 resnet56 resnet_cifar resnet_imagenet resnext50 se_resnext152 se_resnext50 seq2seq_copy table tinyllama transformer unet vgg16 vgg_a vit vit_s16 vit_tiny' \
      '--set=[Sets a var of the network file; may be repeated]:K=V: ' \
      '--dtype=[Numbers\: f32, f64; bf16 or f16 with parameters and statistics in f32 (default f32)]:TYPE:(f32 f64 bf16 f16)' \
      '--lora=[Trains low-rank adapters beside weights that stay as they are, as '\''r=16,alpha=32,dropout=0.05,rslora'\'', or some of these words (default r=8,alpha=8); none\: there are none]:[WORDS]: ' \
      '--lora-targets=[Layers with adapters\: names or their ends, ours or a library'\''s, as '\''q_proj,v_proj'\'', * for any characters, with =RANK or =RANK/ALPHA of their own; all-linear\: all but the output'\''s (default\: the network'\''s)]:NAMES: ' \
      '--lora-train=[Of --lora\: trains these parameters beside the adapters, as '\''*.bias,logits.*'\''; none\: the adapters alone]:NAMES: ' \
      '--data=[mnist\:DIR, cifar10\:DIR, cifar100\:DIR, imagefolder\:DIR, shapes; masks\:IMAGES,MASKS, shape-masks; text\:FILE, jsonl\:FILE, tokens\:DIR, sentences, copy; tsv\:PATH, subjects; csv\:FILE,target=NAME, npy\:NAME=FILE, numbers; synthetic (default\: shapes, shape-masks, sentences, subjects or numbers, made to the network'\''s size); after files ,val=X holds that share of them out for tests, and after masks ,ignore=N says which value does not count]:SPEC: ' \
      '--tokenizer=[Folder whose tokenizer makes tokens of texts that are no tokens yet\: tokenizer.json, tokenizer.model, vocab.txt, or GPT-2'\''s vocab.json and merges.txt (default\: the run'\''s)]:DIR:_files -/' \
      '--skip-bad=[Leaves out up to N image files that cannot be read; each is tried at the beginning (default 0)]:N: ' \
      '--batch=[Samples a step (default\: the network'\''s)]:N: ' \
      '--device=[cpu, cuda, cuda\:1... (default cpu)]:NAME:(cpu cuda)' \
      '--tf32[On a GPU\: convolutions and products may round f32 factors to TF32]' \
      '--fast-conv[On a GPU\: convolutions may round more\: Winograd'\''s algorithm, FFT, factors and sums in less than f32]' \
      '--deterministic[On a GPU\: the same bits in every run (the CPU gives them anyway)]' \
      '--eager[On a GPU\: runs steps launch by launch, not as a recorded graph]' \
      '--workspace-limit=[On a GPU\: scratch memory that one convolution may take (default 1GiB)]:SIZE: ' \
      '--no-winograd[On a CPU\: no convolutions by Winograd'\''s algorithm, which is faster for 3x3 and 5x5 kernels of stride 1, but rounds up to three times as much and takes more scratch memory]' \
      '--fast-f32[On a CPU with AMX\: f32 convolutions as three of bf16, which round more]' \
      '--autotune=[Takes for each convolution the algorithm (on a GPU cuDNN'\''s engine) that is fastest here, which is tried once and kept in FILE (default\: by rule)]:FILE:_files' \
      '--threads=[Worker threads (default 0\: one a processor)]:N: ' \
      '--memopt=[none\: a buffer for each variable; level=0\: those of dead variables of the same shape; level=1\: of any dead one that is large enough; each with ,release (given back within the step) and ,inplace; level=2\: one exact arena, and as much computed again as a hundredth of a step pays for; level=3\: all that a budget or an overhead asks for computed again; optnet=training (eval\: optnet=inference)\: the modules and sharing of optnet'\''s tables (default level=2)]:SETTING: ' \
      '--skip-vars=[Variables that keep memory of their own]:A,B: ' \
      '--skip-grads[So does each parameter gradient given to an optimizer op]' \
      '--print-log[Prints what each step of the planner changes, who takes whose memory, and why others do not]' \
      '--weights=[Weights of a run'\''s directory (its best), of a checkpoint'\''s directory, or of a file; a run says its network, data, numbers, batch and seed, so that these need not be given]:RUN|FILE:_files' \
      '--adapter=[Low-rank adapters beside --weights, a folder as Hugging Face'\''s PEFT saves them\: adapter_config.json, which says --lora and its targets, and adapter_model.safetensors]:DIR:_files -/' \
      '--ignore=[Of --weights\: tensors of the file that are taken as if they were not there, as '\''head.*'\'']:NAMES: ' \
      '--seed=[Seed of initial weights, data order and dropout (default 0)]:N: ' \
      '--top=[Also counts labels that are among the K largest logits]:K: ' \
      '--by-class[Samples, precision, recall and F1 of each class, of masks IoU, and their means over classes]' \
      '--confusion[How many samples of each class were taken for which class]' \
      '--format=[text (default), json]:FORM:(text json)' ;;
    'export') _arguments \
      '-h[Print this help message and exit]' \
      '--help[Print this help message and exit]' \
      '--version[Display program version information and exit]' \
      '--model=[Network\: a name of the zoo, a JSON file, hf\:DIR, a folder of Hugging Face, or gguf\:FILE]:NAME|FILE: _train_words_or_files adaptive_depth alexnet bert bert_base char_gpt char_gpt_cpu char_gru char_lstm early_exit googlenet gpt2 gpt2_large gpt2_medium gpt2_xl lenet llama mlp mlp_mixer optnet/alexnet optnet/googlenet optnet/resnet110 optnet/vgg_a resnet110 resnet1202 resnet20 resnet32 resnet44 resnet50 resnet56 resnet_cifar resnet_imagenet resnext50 se_resnext152 se_resnext50 seq2seq_copy table tinyllama transformer unet vgg16 vgg_a vit vit_s16 vit_tiny' \
      '--set=[Sets a var of the network file; may be repeated]:K=V: ' \
      '--dtype=[Numbers in the file\: f32, f64, bf16 or f16, rounded where they have to be (default\: the parameters'\'' own)]:TYPE:(f32 f64 bf16 f16)' \
      '--lora=[Trains low-rank adapters beside weights that stay as they are, as '\''r=16,alpha=32,dropout=0.05,rslora'\'', or some of these words (default r=8,alpha=8); none\: there are none]:[WORDS]: ' \
      '--lora-targets=[Layers with adapters\: names or their ends, ours or a library'\''s, as '\''q_proj,v_proj'\'', * for any characters, with =RANK or =RANK/ALPHA of their own; all-linear\: all but the output'\''s (default\: the network'\''s)]:NAMES: ' \
      '--lora-train=[Of --lora\: trains these parameters beside the adapters, as '\''*.bias,logits.*'\''; none\: the adapters alone]:NAMES: ' \
      '--weights=[Weights of a run'\''s directory (its best), of a checkpoint'\''s directory, or of a file; a run says its network, data, numbers, batch and seed, so that these need not be given]:RUN|FILE:_files' \
      '--adapter=[Low-rank adapters beside --weights, a folder as Hugging Face'\''s PEFT saves them\: adapter_config.json, which says --lora and its targets, and adapter_model.safetensors]:DIR:_files -/' \
      '--ignore=[Of --weights\: tensors of the file that are taken as if they were not there, as '\''head.*'\'']:NAMES: ' \
      '--seed=[Seed of initial weights, data order and dropout (default 0)]:N: ' \
      '--names=[Under the names, and in the layout, of a library that the network file states\: huggingface, timm (default\: the network'\''s own)]:LIBRARY:(huggingface timm)' \
      '--merge[Adapters become a part of the weights that they are beside\: W + scale B A]' \
      '--quantize=[Weights of fully connected layers but the last in nf4, nf4-dq or int8, as bitsandbytes has them; of GGUF all matrices in q8_0, q4_0 or q4_1]:TYPE:(nf4 nf4-dq int8 q8_0 q4_0 q4_1)' \
      '--format=[safetensors, onnx\: weights and network as other programs run it, or gguf\: weights, network and tokenizer as llama.cpp takes them (default\: onnx for FILE.onnx, else safetensors)]:FORMAT:(safetensors onnx gguf)' \
      '--opset=[Of --format onnx\: the version of ONNX'\''s operators, 17 to 23 (default 17)]:N: ' \
      '--preprocess[Of --format onnx\: takes images as bytes \[N,C,H,W\] and normalises them as the run did]' \
      '--tokenizer=[Of --format gguf\: whose tokens the network takes (default\: those of the run, or of the model'\''s folder)]:DIR|FILE:_files' \
      '--output=[File to write; with --lora a folder as Hugging Face'\''s PEFT has it]:FILE|DIR:_files' ;;
    'generate') _arguments \
      '-h[Print this help message and exit]' \
      '--help[Print this help message and exit]' \
      '--version[Display program version information and exit]' \
      '--model=[Network\: a name of the zoo, a JSON file, hf\:DIR, a folder of Hugging Face, or gguf\:FILE]:NAME|FILE: _train_words_or_files adaptive_depth alexnet bert bert_base char_gpt char_gpt_cpu char_gru char_lstm early_exit googlenet gpt2 gpt2_large gpt2_medium gpt2_xl lenet llama mlp mlp_mixer optnet/alexnet optnet/googlenet optnet/resnet110 optnet/vgg_a resnet110 resnet1202 resnet20 resnet32 resnet44 resnet50 resnet56 resnet_cifar resnet_imagenet resnext50 se_resnext152 se_resnext50 seq2seq_copy table tinyllama transformer unet vgg16 vgg_a vit vit_s16 vit_tiny' \
      '--set=[Sets a var of the network file; may be repeated]:K=V: ' \
      '--dtype=[Numbers\: f32, f64; bf16 or f16 with parameters and statistics in f32 (default f32)]:TYPE:(f32 f64 bf16 f16)' \
      '--lora=[Trains low-rank adapters beside weights that stay as they are, as '\''r=16,alpha=32,dropout=0.05,rslora'\'', or some of these words (default r=8,alpha=8); none\: there are none]:[WORDS]: ' \
      '--lora-targets=[Layers with adapters\: names or their ends, ours or a library'\''s, as '\''q_proj,v_proj'\'', * for any characters, with =RANK or =RANK/ALPHA of their own; all-linear\: all but the output'\''s (default\: the network'\''s)]:NAMES: ' \
      '--lora-train=[Of --lora\: trains these parameters beside the adapters, as '\''*.bias,logits.*'\''; none\: the adapters alone]:NAMES: ' \
      '--weights=[Weights of a run'\''s directory (its best), of a checkpoint'\''s directory, or of a file; a run says its network, data, numbers, batch and seed, so that these need not be given]:RUN|FILE:_files' \
      '--adapter=[Low-rank adapters beside --weights, a folder as Hugging Face'\''s PEFT saves them\: adapter_config.json, which says --lora and its targets, and adapter_model.safetensors]:DIR:_files -/' \
      '--ignore=[Of --weights\: tensors of the file that are taken as if they were not there, as '\''head.*'\'']:NAMES: ' \
      '--data=[Data set whose characters the network knows (default\: the run'\''s)]:SPEC: ' \
      '--tokenizer=[Folder whose tokenizer makes tokens of texts that are no tokens yet\: tokenizer.json, tokenizer.model, vocab.txt, or GPT-2'\''s vocab.json and merges.txt (default\: the run'\''s)]:DIR:_files -/' \
      '--prompt=[What is written on from]:TEXT: ' \
      '--tokens=[Symbols that follow it (default 200)]:N: ' \
      '--stop=[Ends the text before the first TEXT after the prompt]:TEXT: ' \
      '--ignore-eos[Goes on after the end token of a document; a line of its own shows where that stood]' \
      '--temperature=[Above 1 more varied, below 1 less; 0\: always the likeliest symbol (default 1)]:X: ' \
      '--top-k=[Draws among the K likeliest symbols (default 0\: all)]:K: ' \
      '--top-p=[Draws among the fewest of the likeliest symbols that have this probability in all (default 1)]:P: ' \
      '--seed=[Seed of what is drawn\: the same text again (default 0)]:N: ' \
      '--no-cache[Runs the network over the whole text again for each symbol\: slower, the same text]' \
      '--plan[Instead\: the bytes that it takes, by category, before there is a prompt, or weights if --model names a network; also with --device h200 and the like]' \
      '--quiet[The text and errors only]' \
      '--device=[cpu, cuda, cuda\:1... (default cpu)]:NAME:(cpu cuda)' \
      '--tf32[On a GPU\: convolutions and products may round f32 factors to TF32]' \
      '--fast-conv[On a GPU\: convolutions may round more\: Winograd'\''s algorithm, FFT, factors and sums in less than f32]' \
      '--deterministic[On a GPU\: the same bits in every run (the CPU gives them anyway)]' \
      '--eager[On a GPU\: runs steps launch by launch, not as a recorded graph]' \
      '--workspace-limit=[On a GPU\: scratch memory that one convolution may take (default 1GiB)]:SIZE: ' \
      '--no-winograd[On a CPU\: no convolutions by Winograd'\''s algorithm, which is faster for 3x3 and 5x5 kernels of stride 1, but rounds up to three times as much and takes more scratch memory]' \
      '--fast-f32[On a CPU with AMX\: f32 convolutions as three of bf16, which round more]' \
      '--autotune=[Takes for each convolution the algorithm (on a GPU cuDNN'\''s engine) that is fastest here, which is tried once and kept in FILE (default\: by rule)]:FILE:_files' \
      '--threads=[Worker threads (default 0\: one a processor)]:N: ' \
      '--memopt=[none\: a buffer for each variable; level=0\: those of dead variables of the same shape; level=1\: of any dead one that is large enough; each with ,release (given back within the step) and ,inplace; level=2\: one exact arena, and as much computed again as a hundredth of a step pays for; level=3\: all that a budget or an overhead asks for computed again (default level=2)]:SETTING: ' \
      '--skip-vars=[Variables that keep memory of their own]:A,B: ' \
      '--skip-grads[So does each parameter gradient given to an optimizer op]' ;;
    'graph') _arguments \
      '-h[Print this help message and exit]' \
      '--help[Print this help message and exit]' \
      '--version[Display program version information and exit]' \
      '--model=[Network\: a name of the zoo, a JSON file, hf\:DIR, a folder of Hugging Face, or gguf\:FILE]:NAME|FILE: _train_words_or_files adaptive_depth alexnet bert bert_base char_gpt char_gpt_cpu char_gru char_lstm early_exit googlenet gpt2 gpt2_large gpt2_medium gpt2_xl lenet llama mlp mlp_mixer optnet/alexnet optnet/googlenet optnet/resnet110 optnet/vgg_a resnet110 resnet1202 resnet20 resnet32 resnet44 resnet50 resnet56 resnet_cifar resnet_imagenet resnext50 se_resnext152 se_resnext50 seq2seq_copy table tinyllama transformer unet vgg16 vgg_a vit vit_s16 vit_tiny' \
      '--set=[Sets a var of the network file; may be repeated]:K=V: ' \
      '--dtype=[Numbers\: f32, f64; bf16 or f16 with parameters and statistics in f32 (default f32)]:TYPE:(f32 f64 bf16 f16)' \
      '--lora=[Trains low-rank adapters beside weights that stay as they are, as '\''r=16,alpha=32,dropout=0.05,rslora'\'', or some of these words (default r=8,alpha=8); none\: there are none]:[WORDS]: ' \
      '--lora-targets=[Layers with adapters\: names or their ends, ours or a library'\''s, as '\''q_proj,v_proj'\'', * for any characters, with =RANK or =RANK/ALPHA of their own; all-linear\: all but the output'\''s (default\: the network'\''s)]:NAMES: ' \
      '--lora-train=[Of --lora\: trains these parameters beside the adapters, as '\''*.bias,logits.*'\''; none\: the adapters alone]:NAMES: ' \
      '--batch=[Samples a step (default\: the network'\''s)]:N: ' \
      '--micro-batch=[Samples that go through the network at once (default\: the batch); a step sums the gradients of all of them. Batch norm takes its statistics of these]:M: ' \
      '--accumulate=[Sums of the parts'\'' gradients\: bf16, each rounded up or down by chance, or f32 (default)]:TYPE:(f32 bf16)' \
      '--lr=[Learning rate (default\: the network'\''s)]:X: ' \
      '--schedule=[Course of the learning rate\: constant, cosine, poly, one-cycle, step@30ex0.1, exp@1ex0.95, multistep@80e,120ex0.1; after any but one-cycle a warm-up\: +warmup@500 (default\: the network'\''s)]:SPEC: ' \
      '--optimizer=[sgd, momentum, nesterov, adam, adamw, rmsprop, lion or adafactor (default\: the network'\''s)]:NAME:(sgd momentum nesterov adam adamw rmsprop lion adafactor)' \
      '--momentum=[Momentum (default\: the network'\''s)]:X: ' \
      '--beta1=[Of adam, adamw and lion\: what the mean of gradients keeps (default 0.9)]:X: ' \
      '--beta2=[Of adam and adamw\: what the mean of their squares keeps (default 0.999); of lion\: what the mean of gradients keeps for the next step (default 0.99)]:X: ' \
      '--eps=[Of adam, adamw and rmsprop\: what is added to a root (default 1e-8)]:X: ' \
      '--weight-decay=[Weight decay, not on bias and norm (default\: the network'\''s)]:X: ' \
      '--decay-all[Weight decay on bias and norm too]' \
      '--decay=[Weight decay on these parameters too\: names with commas between, * for any characters]:NAMES: ' \
      '--no-decay=[No weight decay on these parameters, as '\''tokens.*,positions.*'\'']:NAMES: ' \
      '--lr-of=[Learning rates of their own, as '\''head.*=10x,norm.*=3e-4'\''\: times that of the others, or a rate that follows the schedule too; * stands for any characters, and the last that means a parameter counts; none\: all have the same]:RATES: ' \
      '--layer-decay=[Each layer has X times the learning rate of the layer above it, the head all of it (default 1)]:X: ' \
      '--loss-scale=[Of --dtype f16\: what the loss is scaled by at first (default 65536); it halves and doubles by itself]:X: ' \
      '--clip-norm=[Scales gradients down to this global norm; 0\: no limit (default\: the network'\''s)]:X: ' \
      '--clip-passes=[2\: backward runs twice, first for the norm of all gradients and then for the updates, so that none stands until the last is there; same results (default 1; at level=3 2 where a budget needs it)]:N:(1 2)' \
      '--state-dtype=[Of the optimizer'\''s states\: 8bit for momentum, nesterov, adam, adamw and lion, but of small parameters and tables of embeddings, or f32 (default\: as parameters are computed)]:TYPE:(f32 8bit)' \
      '--param-dtype=[Of trained parameters of two axes or more\: bf16, which updates round by chance, or f32 (default)]:TYPE:(f32 bf16)' \
      '--grad-dtype=[Of gradients of parameters of two axes or more\: bf16 or f16, as --dtype, in which backward computes them and PyTorch keeps them, or f32 (default)]:TYPE:(f32 bf16 f16)' \
      '--keep-f32=[Of --state-dtype 8bit and --param-dtype bf16\: these parameters and their states stay in f32, as '\''logits.*'\''; none\: no others]:NAMES: ' \
      '--freeze=[Leaves these parameters as they are\: names, ours or a library'\''s, with commas between, * for any characters, as '\''tokens.*,block*'\''; none\: trains all]:NAMES: ' \
      '--train-only=[Trains these parameters and leaves all others; none\: trains all]:NAMES: ' \
      '--frozen-dtype=[Of frozen parameters of two axes or more\: bf16 or f16 halve them, int8 and q8_0 take a quarter, q4_0, q4_1, nf4 and nf4-dq an eighth, f32 (default\: as all others); or by names, of which the first that mean a parameter count\: '\''tokens.*=q8_0,logits.*=q8_0,*=nf4-dq'\'']:TYPE: ' \
      '--class-weights=[What a label of each class counts in the loss\: a number for each; balanced\: the more the fewer there are for training; none\: all alike (default)]:W,..:(balanced none)' \
      '--ema=[Evaluates and saves averages of the weights that keep X of themselves in each step, as 0.9999 (timm'\''s ModelEmaV3; default 0\: none); a run keeps the weights themselves to go on with]:X: ' \
      '--eval[Of evaluation instead of training]' \
      '--device=[cpu, cuda, cuda\:1... (default cpu); or a GPU that is not there\: a100, h100, h200, l40s, rtx3060, rtx3090, rtx4090, rtx5090, or a JSON file that describes one; ,memory=SIZE after it\: with so much memory]:NAME:(cpu cuda a100 h100 h200 l40s rtx3060 rtx3090 rtx4090 rtx5090)' \
      '--tf32[On a GPU\: convolutions and products may round f32 factors to TF32]' \
      '--fast-conv[On a GPU\: convolutions may round more\: Winograd'\''s algorithm, FFT, factors and sums in less than f32]' \
      '--deterministic[On a GPU\: the same bits in every run (the CPU gives them anyway)]' \
      '--workspace-limit=[On a GPU\: scratch memory that one convolution may take (default 1GiB)]:SIZE: ' \
      '--no-winograd[On a CPU\: no convolutions by Winograd'\''s algorithm, which is faster for 3x3 and 5x5 kernels of stride 1, but rounds up to three times as much and takes more scratch memory]' \
      '--fast-f32[On a CPU with AMX\: f32 convolutions as three of bf16, which round more]' \
      '--autotune=[Takes for each convolution the algorithm (on a GPU cuDNN'\''s engine) that is fastest here, which is tried once and kept in FILE (default\: by rule)]:FILE:_files' \
      '--threads=[Worker threads (default 0\: one a processor)]:N: ' \
      '--memopt=[none\: a buffer for each variable; level=0\: those of dead variables of the same shape; level=1\: of any dead one that is large enough; each with ,release (given back within the step) and ,inplace; level=2\: one exact arena, and as much computed again as a hundredth of a step pays for; level=3\: all that a budget or an overhead asks for computed again (default level=2)]:SETTING: ' \
      '--skip-vars=[Variables that keep memory of their own]:A,B: ' \
      '--skip-grads[So does each parameter gradient given to an optimizer op]' \
      '--out=[Writes the picture there (default\: standard output)]:FILE:_files' ;;
    'import') _arguments \
      '-h[Print this help message and exit]' \
      '--help[Print this help message and exit]' \
      '--version[Display program version information and exit]' \
      ':FILE:_files' \
      '--loss=[cross_entropy of labels on the first output, without a softmax at its end (default); mse of targets of its shape; none\: to evaluate alone]:LOSS:(cross_entropy mse none)' \
      '--outputs=[End the graph at these values, in place of its outputs\: before boxes are picked, for instance]:NAME,...: ' \
      '--bind=[Sizes of axes that have names and no size, but for the batch\: --bind sequence=128]:NAME=N,...: ' \
      '--no-batch[The first axis of the inputs is no batch\: a sample is all that goes through the model at once]' \
      '--output=[The network file; its weights stand beside it, as FILE.safetensors]:FILE:_files' ;;
    'lr-find') _arguments \
      '-h[Print this help message and exit]' \
      '--help[Print this help message and exit]' \
      '--version[Display program version information and exit]' \
      '--model=[Network\: a name of the zoo, a JSON file, hf\:DIR, a folder of Hugging Face, or gguf\:FILE]:NAME|FILE: _train_words_or_files adaptive_depth alexnet bert bert_base char_gpt char_gpt_cpu char_gru char_lstm early_exit googlenet gpt2 gpt2_large gpt2_medium gpt2_xl lenet llama mlp mlp_mixer optnet/alexnet optnet/googlenet optnet/resnet110 optnet/vgg_a resnet110 resnet1202 resnet20 resnet32 resnet44 resnet50 resnet56 resnet_cifar resnet_imagenet resnext50 se_resnext152 se_resnext50 seq2seq_copy table tinyllama transformer unet vgg16 vgg_a vit vit_s16 vit_tiny' \
      '--set=[Sets a var of the network file; may be repeated]:K=V: ' \
      '--dtype=[Numbers\: f32, f64; bf16 or f16 with parameters and statistics in f32 (default f32)]:TYPE:(f32 f64 bf16 f16)' \
      '--lora=[Trains low-rank adapters beside weights that stay as they are, as '\''r=16,alpha=32,dropout=0.05,rslora'\'', or some of these words (default r=8,alpha=8); none\: there are none]:[WORDS]: ' \
      '--lora-targets=[Layers with adapters\: names or their ends, ours or a library'\''s, as '\''q_proj,v_proj'\'', * for any characters, with =RANK or =RANK/ALPHA of their own; all-linear\: all but the output'\''s (default\: the network'\''s)]:NAMES: ' \
      '--lora-train=[Of --lora\: trains these parameters beside the adapters, as '\''*.bias,logits.*'\''; none\: the adapters alone]:NAMES: ' \
      '--data=[mnist\:DIR, cifar10\:DIR, cifar100\:DIR, imagefolder\:DIR, shapes; masks\:IMAGES,MASKS, shape-masks; text\:FILE, jsonl\:FILE, tokens\:DIR, sentences, copy; tsv\:PATH, subjects; csv\:FILE,target=NAME, npy\:NAME=FILE, numbers; synthetic (default\: shapes, shape-masks, sentences, subjects or numbers, made to the network'\''s size); after files ,val=X holds that share of them out for tests, and after masks ,ignore=N says which value does not count]:SPEC: ' \
      '--tokenizer=[Folder whose tokenizer makes tokens of texts that are no tokens yet\: tokenizer.json, tokenizer.model, vocab.txt, or GPT-2'\''s vocab.json and merges.txt (default\: the run'\''s)]:DIR:_files -/' \
      '--skip-bad=[Leaves out up to N image files that cannot be read; each is tried at the beginning (default 0)]:N: ' \
      '--batch=[Samples a step (default\: the network'\''s)]:N: ' \
      '--device=[cpu, cuda, cuda\:1... (default cpu)]:NAME:(cpu cuda)' \
      '--tf32[On a GPU\: convolutions and products may round f32 factors to TF32]' \
      '--fast-conv[On a GPU\: convolutions may round more\: Winograd'\''s algorithm, FFT, factors and sums in less than f32]' \
      '--deterministic[On a GPU\: the same bits in every run (the CPU gives them anyway)]' \
      '--eager[On a GPU\: runs steps launch by launch, not as a recorded graph]' \
      '--workspace-limit=[On a GPU\: scratch memory that one convolution may take (default 1GiB)]:SIZE: ' \
      '--no-winograd[On a CPU\: no convolutions by Winograd'\''s algorithm, which is faster for 3x3 and 5x5 kernels of stride 1, but rounds up to three times as much and takes more scratch memory]' \
      '--fast-f32[On a CPU with AMX\: f32 convolutions as three of bf16, which round more]' \
      '--autotune=[Takes for each convolution the algorithm (on a GPU cuDNN'\''s engine) that is fastest here, which is tried once and kept in FILE (default\: by rule)]:FILE:_files' \
      '--threads=[Worker threads (default 0\: one a processor)]:N: ' \
      '--memopt=[none\: a buffer for each variable; level=0\: those of dead variables of the same shape; level=1\: of any dead one that is large enough; each with ,release (given back within the step) and ,inplace; level=2\: one exact arena, and as much computed again as a hundredth of a step pays for; level=3\: all that a budget or an overhead asks for computed again (default level=2)]:SETTING: ' \
      '--skip-vars=[Variables that keep memory of their own]:A,B: ' \
      '--skip-grads[So does each parameter gradient given to an optimizer op]' \
      '--print-log[Prints what each step of the planner changes, who takes whose memory, and why others do not]' \
      '--augment=[none, or with commas\: pad-crop=4, flip, cutout=8, random-crop; random-resized-crop, rotate=15, color-jitter=0.4, rand-m9-mstd0.5-inc1 (RandAugment as timm spells it), mixup=0.8, cutmix=1, mix-prob=1, cutmix-prob=0.5 (default\: the network'\''s)]:LIST: ' \
      '--sampler=[shuffled\: each sample once an epoch (default); balanced\: each class is drawn alike, with replacement]:WORD:(shuffled balanced)' \
      '--min-lr=[Learning rate of the first step (default 1e-7)]:X: ' \
      '--max-lr=[Learning rate of the last step (default 10)]:X: ' \
      '--steps=[Steps, each with a rate that is larger by the same factor (default 100)]:N: ' \
      '--optimizer=[sgd, momentum, nesterov, adam, adamw, rmsprop, lion or adafactor (default\: the network'\''s)]:NAME:(sgd momentum nesterov adam adamw rmsprop lion adafactor)' \
      '--momentum=[Momentum (default\: the network'\''s)]:X: ' \
      '--beta1=[Of adam, adamw and lion\: what the mean of gradients keeps (default 0.9)]:X: ' \
      '--beta2=[Of adam and adamw\: what the mean of their squares keeps (default 0.999); of lion\: what the mean of gradients keeps for the next step (default 0.99)]:X: ' \
      '--eps=[Of adam, adamw and rmsprop\: what is added to a root (default 1e-8)]:X: ' \
      '--weight-decay=[Weight decay, not on bias and norm (default\: the network'\''s)]:X: ' \
      '--decay-all[Weight decay on bias and norm too]' \
      '--decay=[Weight decay on these parameters too\: names with commas between, * for any characters]:NAMES: ' \
      '--no-decay=[No weight decay on these parameters, as '\''tokens.*,positions.*'\'']:NAMES: ' \
      '--lr-of=[Learning rates of their own, as '\''head.*=10x,norm.*=3e-4'\''\: times that of the others, or a rate that follows the schedule too; * stands for any characters, and the last that means a parameter counts; none\: all have the same]:RATES: ' \
      '--layer-decay=[Each layer has X times the learning rate of the layer above it, the head all of it (default 1)]:X: ' \
      '--loss-scale=[Of --dtype f16\: what the loss is scaled by at first (default 65536); it halves and doubles by itself]:X: ' \
      '--clip-norm=[Scales gradients down to this global norm; 0\: no limit (default\: the network'\''s)]:X: ' \
      '--clip-passes=[2\: backward runs twice, first for the norm of all gradients and then for the updates, so that none stands until the last is there; same results (default 1; at level=3 2 where a budget needs it)]:N:(1 2)' \
      '--state-dtype=[Of the optimizer'\''s states\: 8bit for momentum, nesterov, adam, adamw and lion, but of small parameters and tables of embeddings, or f32 (default\: as parameters are computed)]:TYPE:(f32 8bit)' \
      '--param-dtype=[Of trained parameters of two axes or more\: bf16, which updates round by chance, or f32 (default)]:TYPE:(f32 bf16)' \
      '--grad-dtype=[Of gradients of parameters of two axes or more\: bf16 or f16, as --dtype, in which backward computes them and PyTorch keeps them, or f32 (default)]:TYPE:(f32 bf16 f16)' \
      '--keep-f32=[Of --state-dtype 8bit and --param-dtype bf16\: these parameters and their states stay in f32, as '\''logits.*'\''; none\: no others]:NAMES: ' \
      '--freeze=[Leaves these parameters as they are\: names, ours or a library'\''s, with commas between, * for any characters, as '\''tokens.*,block*'\''; none\: trains all]:NAMES: ' \
      '--train-only=[Trains these parameters and leaves all others; none\: trains all]:NAMES: ' \
      '--frozen-dtype=[Of frozen parameters of two axes or more\: bf16 or f16 halve them, int8 and q8_0 take a quarter, q4_0, q4_1, nf4 and nf4-dq an eighth, f32 (default\: as all others); or by names, of which the first that mean a parameter count\: '\''tokens.*=q8_0,logits.*=q8_0,*=nf4-dq'\'']:TYPE: ' \
      '--class-weights=[What a label of each class counts in the loss\: a number for each; balanced\: the more the fewer there are for training; none\: all alike (default)]:W,..:(balanced none)' \
      '--seed=[Seed of initial weights, data order and dropout (default 0)]:N: ' \
      '--weights=[Starts from these weights; of a checkpoint directory the best; none\: from no weights of hf\:DIR]:FILE|DIR:_files' \
      '--fresh=[Of --weights\: these may be missing there or of another shape, and are made anew then by the seed\: names with commas between, * for any characters, as '\''logits.*'\''; the network'\''s, or the file'\''s own]:NAMES: ' \
      '--ignore=[Of --weights\: tensors of the file that are taken as if they were not there, as '\''head.*'\'']:NAMES: ' \
      '--format=[text (default), json]:FORM:(text json)' \
      '--out=[Also writes the picture there, a page for a browser\: lr.html]:FILE:_files' ;;
    'man') _arguments \
      '-h[Print this help message and exit]' \
      '--help[Print this help message and exit]' \
      '--version[Display program version information and exit]' ;;
    'pack') _arguments \
      '-h[Print this help message and exit]' \
      '--help[Print this help message and exit]' \
      '--version[Display program version information and exit]' \
      ':FILE:_files' \
      '--capacity=[Bytes of the arena\: the first packing within them will do]:N: ' \
      '--time=[About as many seconds to search for a smaller arena (default 1)]:S: ' \
      '--out=[Writes id,lower,upper,size,offset there (default\: standard output)]:FILE:_files' ;;
    'plan') _arguments \
      '-h[Print this help message and exit]' \
      '--help[Print this help message and exit]' \
      '--version[Display program version information and exit]' \
      '--model=[Network\: a name of the zoo, a JSON file, hf\:DIR, a folder of Hugging Face, or gguf\:FILE]:NAME|FILE: _train_words_or_files adaptive_depth alexnet bert bert_base char_gpt char_gpt_cpu char_gru char_lstm early_exit googlenet gpt2 gpt2_large gpt2_medium gpt2_xl lenet llama mlp mlp_mixer optnet/alexnet optnet/googlenet optnet/resnet110 optnet/vgg_a resnet110 resnet1202 resnet20 resnet32 resnet44 resnet50 resnet56 resnet_cifar resnet_imagenet resnext50 se_resnext152 se_resnext50 seq2seq_copy table tinyllama transformer unet vgg16 vgg_a vit vit_s16 vit_tiny' \
      '--set=[Sets a var of the network file; may be repeated]:K=V: ' \
      '--dtype=[Numbers\: f32, f64; bf16 or f16 with parameters and statistics in f32 (default f32)]:TYPE:(f32 f64 bf16 f16)' \
      '--lora=[Trains low-rank adapters beside weights that stay as they are, as '\''r=16,alpha=32,dropout=0.05,rslora'\'', or some of these words (default r=8,alpha=8); none\: there are none]:[WORDS]: ' \
      '--lora-targets=[Layers with adapters\: names or their ends, ours or a library'\''s, as '\''q_proj,v_proj'\'', * for any characters, with =RANK or =RANK/ALPHA of their own; all-linear\: all but the output'\''s (default\: the network'\''s)]:NAMES: ' \
      '--lora-train=[Of --lora\: trains these parameters beside the adapters, as '\''*.bias,logits.*'\''; none\: the adapters alone]:NAMES: ' \
      '--batch=[Samples a step (default\: the network'\''s); auto\: the largest that the memory has room for]:N: ' \
      '--micro-batch=[Samples that go through the network at once (default\: the batch); a step sums the gradients of all of them. Batch norm takes its statistics of these; auto\: the most that fit]:M: ' \
      '--accumulate=[Sums of the parts'\'' gradients\: bf16, each rounded up or down by chance, or f32 (default)]:TYPE:(f32 bf16)' \
      '--context=[Symbols that a network of sequences reads at once\: --set length=N (default\: as its file says); auto\: the most that the memory has room for]:N: ' \
      '--shards=[Equal parts of a batch that go through the network one by one, on whichever rank\: the same shards give the same bits on 1, 2, 4... ranks (default 1; started by mpirun up to 8)]:V: ' \
      '--bucket=[Small gradients are summed over ranks in buckets of at least so much (default 1MiB)]:SIZE: ' \
      '--zero=[What each rank has a share of alone (ZeRO)\: 1 states of the update, 2 gradients too, 3 parameters too (default 0\: nothing); auto\: whichever of these sends least and fits the --memory-budget]:STAGE:(0 1 2 3 auto)' \
      '--sum-dtype=[What shards give is summed in this, and rounded once\: f32 or f64 (default f32)]:TYPE:(f32 f64)' \
      '--sync-bn[Batch norm takes its statistics over all shards (default\: each of its own)]' \
      '--ranks=[Plans what each of so many ranks takes, and what it sends (default 1). A..B\: instead predicts memory and time of a step on A, 2A.. B ranks, each with as much of a batch as on A]:R|A..B: ' \
      '--exchange=[With --ranks A..B\: how sums come to all ranks; in pieces, as they do in runs (default), round a ring or by a tree]:HOW:(pieces ring tree)' \
      '--network=[What a link between ranks moves in a second, and its latency, for the time that sending takes\: 25Gb,10us]:RATE,LATENCY: ' \
      '--lr=[Learning rate (default\: the network'\''s)]:X: ' \
      '--schedule=[Course of the learning rate\: constant, cosine, poly, one-cycle, step@30ex0.1, exp@1ex0.95, multistep@80e,120ex0.1; after any but one-cycle a warm-up\: +warmup@500 (default\: the network'\''s)]:SPEC: ' \
      '--optimizer=[sgd, momentum, nesterov, adam, adamw, rmsprop, lion or adafactor (default\: the network'\''s)]:NAME:(sgd momentum nesterov adam adamw rmsprop lion adafactor)' \
      '--momentum=[Momentum (default\: the network'\''s)]:X: ' \
      '--beta1=[Of adam, adamw and lion\: what the mean of gradients keeps (default 0.9)]:X: ' \
      '--beta2=[Of adam and adamw\: what the mean of their squares keeps (default 0.999); of lion\: what the mean of gradients keeps for the next step (default 0.99)]:X: ' \
      '--eps=[Of adam, adamw and rmsprop\: what is added to a root (default 1e-8)]:X: ' \
      '--weight-decay=[Weight decay, not on bias and norm (default\: the network'\''s)]:X: ' \
      '--decay-all[Weight decay on bias and norm too]' \
      '--decay=[Weight decay on these parameters too\: names with commas between, * for any characters]:NAMES: ' \
      '--no-decay=[No weight decay on these parameters, as '\''tokens.*,positions.*'\'']:NAMES: ' \
      '--lr-of=[Learning rates of their own, as '\''head.*=10x,norm.*=3e-4'\''\: times that of the others, or a rate that follows the schedule too; * stands for any characters, and the last that means a parameter counts; none\: all have the same]:RATES: ' \
      '--layer-decay=[Each layer has X times the learning rate of the layer above it, the head all of it (default 1)]:X: ' \
      '--loss-scale=[Of --dtype f16\: what the loss is scaled by at first (default 65536); it halves and doubles by itself]:X: ' \
      '--clip-norm=[Scales gradients down to this global norm; 0\: no limit (default\: the network'\''s)]:X: ' \
      '--clip-passes=[2\: backward runs twice, first for the norm of all gradients and then for the updates, so that none stands until the last is there; same results (default 1; at level=3 2 where a budget needs it)]:N:(1 2)' \
      '--state-dtype=[Of the optimizer'\''s states\: 8bit for momentum, nesterov, adam, adamw and lion, but of small parameters and tables of embeddings, or f32 (default\: as parameters are computed)]:TYPE:(f32 8bit)' \
      '--param-dtype=[Of trained parameters of two axes or more\: bf16, which updates round by chance, or f32 (default)]:TYPE:(f32 bf16)' \
      '--grad-dtype=[Of gradients of parameters of two axes or more\: bf16 or f16, as --dtype, in which backward computes them and PyTorch keeps them, or f32 (default)]:TYPE:(f32 bf16 f16)' \
      '--keep-f32=[Of --state-dtype 8bit and --param-dtype bf16\: these parameters and their states stay in f32, as '\''logits.*'\''; none\: no others]:NAMES: ' \
      '--freeze=[Leaves these parameters as they are\: names, ours or a library'\''s, with commas between, * for any characters, as '\''tokens.*,block*'\''; none\: trains all]:NAMES: ' \
      '--train-only=[Trains these parameters and leaves all others; none\: trains all]:NAMES: ' \
      '--frozen-dtype=[Of frozen parameters of two axes or more\: bf16 or f16 halve them, int8 and q8_0 take a quarter, q4_0, q4_1, nf4 and nf4-dq an eighth, f32 (default\: as all others); or by names, of which the first that mean a parameter count\: '\''tokens.*=q8_0,logits.*=q8_0,*=nf4-dq'\'']:TYPE: ' \
      '--class-weights=[What a label of each class counts in the loss\: a number for each; balanced\: the more the fewer there are for training; none\: all alike (default)]:W,..:(balanced none)' \
      '--ema=[Evaluates and saves averages of the weights that keep X of themselves in each step, as 0.9999 (timm'\''s ModelEmaV3; default 0\: none); a run keeps the weights themselves to go on with]:X: ' \
      '--augment=[none, or with commas\: pad-crop=4, flip, cutout=8, random-crop; random-resized-crop, rotate=15, color-jitter=0.4, rand-m9-mstd0.5-inc1 (RandAugment as timm spells it), mixup=0.8, cutmix=1, mix-prob=1, cutmix-prob=0.5 (default\: the network'\''s)]:LIST: ' \
      '--sampler=[shuffled\: each sample once an epoch (default); balanced\: each class is drawn alike, with replacement]:WORD:(shuffled balanced)' \
      '--data=[What the run is to read, of which nothing is opened\: with jsonl\:FILE several texts stand in a window, with masks\:..,ignore=N a label does not count]:SPEC: ' \
      '--eval[Plans evaluation instead of training]' \
      '--eval-every=[0\: training alone; else evaluation between its steps too (default)]:N|Ne: ' \
      '--best=[By what the best evaluation is chosen\: acc (default), loss, f1 or iou; means over classes need room for the logits]:MEASURE:(acc loss f1 iou)' \
      '--device=[cpu, cuda, cuda\:1... (default cpu); or a GPU that is not there\: a100, h100, h200, l40s, rtx3060, rtx3090, rtx4090, rtx5090, or a JSON file that describes one; ,memory=SIZE after it\: with so much memory]:NAME:(cpu cuda a100 h100 h200 l40s rtx3060 rtx3090 rtx4090 rtx5090)' \
      '--tf32[On a GPU\: convolutions and products may round f32 factors to TF32]' \
      '--fast-conv[On a GPU\: convolutions may round more\: Winograd'\''s algorithm, FFT, factors and sums in less than f32]' \
      '--deterministic[On a GPU\: the same bits in every run (the CPU gives them anyway)]' \
      '--workspace-limit=[On a GPU\: scratch memory that one convolution may take (default 1GiB)]:SIZE: ' \
      '--no-winograd[On a CPU\: no convolutions by Winograd'\''s algorithm, which is faster for 3x3 and 5x5 kernels of stride 1, but rounds up to three times as much and takes more scratch memory]' \
      '--fast-f32[On a CPU with AMX\: f32 convolutions as three of bf16, which round more]' \
      '--autotune=[Takes for each convolution the algorithm (on a GPU cuDNN'\''s engine) that is fastest here, which is tried once and kept in FILE (default\: by rule)]:FILE:_files' \
      '--threads=[Worker threads (default 0\: one a processor)]:N: ' \
      '--memopt=[none\: a buffer for each variable; level=0\: those of dead variables of the same shape; level=1\: of any dead one that is large enough; each with ,release (given back within the step) and ,inplace; level=2\: one exact arena, and as much computed again as a hundredth of a step pays for; level=3\: all that a budget or an overhead asks for computed again (default level=2)]:SETTING: ' \
      '--skip-vars=[Variables that keep memory of their own]:A,B: ' \
      '--skip-grads[So does each parameter gradient given to an optimizer op]' \
      '--print-log[Prints what each step of the planner changes, who takes whose memory, and why others do not]' \
      '--memory-budget=[All that the device is asked for\: 800MiB, 2GiB, 1500000000. Unless --memopt says another level, as little as it takes is computed again (level=3); exits with 3 if nothing fits]:SIZE: ' \
      '--overhead=[Of level=3\: what computing again may take of a step, such as 5% (default\: as much as a forward pass)]:SHARE: ' \
      '--costs=[Of level=3\: weighs ops by what their kernels take here, which is measured once and kept in FILE, or on a kind of processor\: avx2, avx512 (default\: by their operations and bytes)]:FILE|CPU:_files' \
      '--json[The figures as JSON]' \
      '--advise[Also says what training otherwise would take, the least change first\: two passes, other optimizers, adapters, a part of the parameters (without it\: where the setting does not fit)]' \
      '--sweep[What level=3 takes at each price, instead of the plan of one setting]' \
      '--out=[With --sweep or --ranks A..B\: also writes the picture of that there, as SVG]:FILE:_files' \
      '--csv=[Writes what the arena packs, as train pack reads it (level=2)]:FILE:_files' \
      '--roofline[Instead\: launches, operations and bytes of a step by op, and the least time they take on that GPU]' ;;
    'predict') _arguments \
      '-h[Print this help message and exit]' \
      '--help[Print this help message and exit]' \
      '--version[Display program version information and exit]' \
      '--model=[Network\: a name of the zoo, a JSON file, hf\:DIR, a folder of Hugging Face, or gguf\:FILE]:NAME|FILE: _train_words_or_files adaptive_depth alexnet bert bert_base char_gpt char_gpt_cpu char_gru char_lstm early_exit googlenet gpt2 gpt2_large gpt2_medium gpt2_xl lenet llama mlp mlp_mixer optnet/alexnet optnet/googlenet optnet/resnet110 optnet/vgg_a resnet110 resnet1202 resnet20 resnet32 resnet44 resnet50 resnet56 resnet_cifar resnet_imagenet resnext50 se_resnext152 se_resnext50 seq2seq_copy table tinyllama transformer unet vgg16 vgg_a vit vit_s16 vit_tiny' \
      '--set=[Sets a var of the network file; may be repeated]:K=V: ' \
      '--dtype=[Numbers\: f32, f64; bf16 or f16 with parameters and statistics in f32 (default f32)]:TYPE:(f32 f64 bf16 f16)' \
      '--lora=[Trains low-rank adapters beside weights that stay as they are, as '\''r=16,alpha=32,dropout=0.05,rslora'\'', or some of these words (default r=8,alpha=8); none\: there are none]:[WORDS]: ' \
      '--lora-targets=[Layers with adapters\: names or their ends, ours or a library'\''s, as '\''q_proj,v_proj'\'', * for any characters, with =RANK or =RANK/ALPHA of their own; all-linear\: all but the output'\''s (default\: the network'\''s)]:NAMES: ' \
      '--lora-train=[Of --lora\: trains these parameters beside the adapters, as '\''*.bias,logits.*'\''; none\: the adapters alone]:NAMES: ' \
      '*:FILE|DIR...:_files' \
      '--weights=[Weights of a run'\''s directory (its best), of a checkpoint'\''s directory, or of a file; a run says its network, data, numbers, batch and seed, so that these need not be given]:RUN|FILE:_files' \
      '--adapter=[Low-rank adapters beside --weights, a folder as Hugging Face'\''s PEFT saves them\: adapter_config.json, which says --lora and its targets, and adapter_model.safetensors]:DIR:_files -/' \
      '--ignore=[Of --weights\: tensors of the file that are taken as if they were not there, as '\''head.*'\'']:NAMES: ' \
      '--data=[Data set that says how images are normalised, or what symbols of texts stand for, and what classes are called (default\: the run'\''s)]:SPEC: ' \
      '--tokenizer=[Folder whose tokenizer makes tokens of texts that are no tokens yet\: tokenizer.json, tokenizer.model, vocab.txt, or GPT-2'\''s vocab.json and merges.txt (default\: the run'\''s)]:DIR:_files -/' \
      '--skip-bad=[Passes over up to N image files that cannot be read, with a line for each (default 0)]:N: ' \
      '--batch=[Images, texts or rows at a time (default 1)]:N: ' \
      '--top=[Likeliest classes that are named of each image or text (default 5)]:K: ' \
      '--embed[Instead\: the embedding of each text, the mean of what becomes of its tokens, of length 1]' \
      '--format=[text (default), json]:FORM:(text json)' \
      '--device=[cpu, cuda, cuda\:1... (default cpu)]:NAME:(cpu cuda)' \
      '--tf32[On a GPU\: convolutions and products may round f32 factors to TF32]' \
      '--fast-conv[On a GPU\: convolutions may round more\: Winograd'\''s algorithm, FFT, factors and sums in less than f32]' \
      '--deterministic[On a GPU\: the same bits in every run (the CPU gives them anyway)]' \
      '--eager[On a GPU\: runs steps launch by launch, not as a recorded graph]' \
      '--workspace-limit=[On a GPU\: scratch memory that one convolution may take (default 1GiB)]:SIZE: ' \
      '--no-winograd[On a CPU\: no convolutions by Winograd'\''s algorithm, which is faster for 3x3 and 5x5 kernels of stride 1, but rounds up to three times as much and takes more scratch memory]' \
      '--fast-f32[On a CPU with AMX\: f32 convolutions as three of bf16, which round more]' \
      '--autotune=[Takes for each convolution the algorithm (on a GPU cuDNN'\''s engine) that is fastest here, which is tried once and kept in FILE (default\: by rule)]:FILE:_files' \
      '--threads=[Worker threads (default 0\: one a processor)]:N: ' \
      '--memopt=[none\: a buffer for each variable; level=0\: those of dead variables of the same shape; level=1\: of any dead one that is large enough; each with ,release (given back within the step) and ,inplace; level=2\: one exact arena, and as much computed again as a hundredth of a step pays for; level=3\: all that a budget or an overhead asks for computed again (default level=2)]:SETTING: ' \
      '--skip-vars=[Variables that keep memory of their own]:A,B: ' \
      '--skip-grads[So does each parameter gradient given to an optimizer op]' ;;
    'schema') _arguments \
      '-h[Print this help message and exit]' \
      '--help[Print this help message and exit]' \
      '--version[Display program version information and exit]' \
      '--layers=[Instead\: layers with their keys, what these take, their defaults and bounds; NAME\: that one alone]:[NAME]:(abs acos acosh add arange array array_read array_write asin asinh atan atanh attention avg_pool bn cast ceil celu clip concat constant conv conv_transpose cos cosh cumsum div drop_path dropout elu embedding equal erf exp expand fc flatten floor gather gelu global_avg_pool global_max_pool greater group_norm hard_sigmoid hard_swish identity instance_norm layer_norm leaky_relu less linear_cross_entropy log log_softmax logical_and logical_not logical_or logical_xor lrn matmul max max_pool mean min mish mod mul pad pad_channels parameter pixel_shuffle pixel_unshuffle pow prelu reciprocal reduce_max reduce_min reduce_prod relu reshape rms_norm rope round scale selu sequence_mask shrink sigmoid sign silu sin sinh sinusoidal_positions slice softmax softplus softsign sqrt square sub sum tan tanh threshold transpose upsample where)' ;;
    'show') _arguments \
      '-h[Print this help message and exit]' \
      '--help[Print this help message and exit]' \
      '--version[Display program version information and exit]' \
      '--model=[Network\: a name of the zoo, a JSON file, hf\:DIR, a folder of Hugging Face, or gguf\:FILE]:NAME|FILE: _train_words_or_files adaptive_depth alexnet bert bert_base char_gpt char_gpt_cpu char_gru char_lstm early_exit googlenet gpt2 gpt2_large gpt2_medium gpt2_xl lenet llama mlp mlp_mixer optnet/alexnet optnet/googlenet optnet/resnet110 optnet/vgg_a resnet110 resnet1202 resnet20 resnet32 resnet44 resnet50 resnet56 resnet_cifar resnet_imagenet resnext50 se_resnext152 se_resnext50 seq2seq_copy table tinyllama transformer unet vgg16 vgg_a vit vit_s16 vit_tiny' \
      '--set=[Sets a var of the network file; may be repeated]:K=V: ' \
      '--dtype=[Numbers\: f32, f64; bf16 or f16 with parameters and statistics in f32 (default f32)]:TYPE:(f32 f64 bf16 f16)' \
      '--lora=[Trains low-rank adapters beside weights that stay as they are, as '\''r=16,alpha=32,dropout=0.05,rslora'\'', or some of these words (default r=8,alpha=8); none\: there are none]:[WORDS]: ' \
      '--lora-targets=[Layers with adapters\: names or their ends, ours or a library'\''s, as '\''q_proj,v_proj'\'', * for any characters, with =RANK or =RANK/ALPHA of their own; all-linear\: all but the output'\''s (default\: the network'\''s)]:NAMES: ' \
      '--lora-train=[Of --lora\: trains these parameters beside the adapters, as '\''*.bias,logits.*'\''; none\: the adapters alone]:NAMES: ' \
      '--weights=[Weights of a run'\''s directory (its best), of a checkpoint'\''s directory, or of a file; a run says its network, data, numbers, batch and seed, so that these need not be given]:RUN|FILE:_files' \
      '--adapter=[Low-rank adapters beside --weights, a folder as Hugging Face'\''s PEFT saves them\: adapter_config.json, which says --lora and its targets, and adapter_model.safetensors]:DIR:_files -/' \
      '--batch=[Samples a step (default\: as few as the network can be trained with)]:N: ' \
      '--micro-batch=[Samples that go through the network at once (default\: the batch); a step sums the gradients of all of them. Batch norm takes its statistics of these]:M: ' \
      '--accumulate=[Sums of the parts'\'' gradients\: bf16, each rounded up or down by chance, or f32 (default)]:TYPE:(f32 bf16)' \
      '--lr=[Learning rate (default\: the network'\''s)]:X: ' \
      '--schedule=[Course of the learning rate\: constant, cosine, poly, one-cycle, step@30ex0.1, exp@1ex0.95, multistep@80e,120ex0.1; after any but one-cycle a warm-up\: +warmup@500 (default\: the network'\''s)]:SPEC: ' \
      '--optimizer=[sgd, momentum, nesterov, adam, adamw, rmsprop, lion or adafactor (default\: the network'\''s)]:NAME:(sgd momentum nesterov adam adamw rmsprop lion adafactor)' \
      '--momentum=[Momentum (default\: the network'\''s)]:X: ' \
      '--beta1=[Of adam, adamw and lion\: what the mean of gradients keeps (default 0.9)]:X: ' \
      '--beta2=[Of adam and adamw\: what the mean of their squares keeps (default 0.999); of lion\: what the mean of gradients keeps for the next step (default 0.99)]:X: ' \
      '--eps=[Of adam, adamw and rmsprop\: what is added to a root (default 1e-8)]:X: ' \
      '--weight-decay=[Weight decay, not on bias and norm (default\: the network'\''s)]:X: ' \
      '--decay-all[Weight decay on bias and norm too]' \
      '--decay=[Weight decay on these parameters too\: names with commas between, * for any characters]:NAMES: ' \
      '--no-decay=[No weight decay on these parameters, as '\''tokens.*,positions.*'\'']:NAMES: ' \
      '--lr-of=[Learning rates of their own, as '\''head.*=10x,norm.*=3e-4'\''\: times that of the others, or a rate that follows the schedule too; * stands for any characters, and the last that means a parameter counts; none\: all have the same]:RATES: ' \
      '--layer-decay=[Each layer has X times the learning rate of the layer above it, the head all of it (default 1)]:X: ' \
      '--loss-scale=[Of --dtype f16\: what the loss is scaled by at first (default 65536); it halves and doubles by itself]:X: ' \
      '--clip-norm=[Scales gradients down to this global norm; 0\: no limit (default\: the network'\''s)]:X: ' \
      '--clip-passes=[2\: backward runs twice, first for the norm of all gradients and then for the updates, so that none stands until the last is there; same results (default 1; at level=3 2 where a budget needs it)]:N:(1 2)' \
      '--state-dtype=[Of the optimizer'\''s states\: 8bit for momentum, nesterov, adam, adamw and lion, but of small parameters and tables of embeddings, or f32 (default\: as parameters are computed)]:TYPE:(f32 8bit)' \
      '--param-dtype=[Of trained parameters of two axes or more\: bf16, which updates round by chance, or f32 (default)]:TYPE:(f32 bf16)' \
      '--grad-dtype=[Of gradients of parameters of two axes or more\: bf16 or f16, as --dtype, in which backward computes them and PyTorch keeps them, or f32 (default)]:TYPE:(f32 bf16 f16)' \
      '--keep-f32=[Of --state-dtype 8bit and --param-dtype bf16\: these parameters and their states stay in f32, as '\''logits.*'\''; none\: no others]:NAMES: ' \
      '--freeze=[Leaves these parameters as they are\: names, ours or a library'\''s, with commas between, * for any characters, as '\''tokens.*,block*'\''; none\: trains all]:NAMES: ' \
      '--train-only=[Trains these parameters and leaves all others; none\: trains all]:NAMES: ' \
      '--frozen-dtype=[Of frozen parameters of two axes or more\: bf16 or f16 halve them, int8 and q8_0 take a quarter, q4_0, q4_1, nf4 and nf4-dq an eighth, f32 (default\: as all others); or by names, of which the first that mean a parameter count\: '\''tokens.*=q8_0,logits.*=q8_0,*=nf4-dq'\'']:TYPE: ' \
      '--class-weights=[What a label of each class counts in the loss\: a number for each; balanced\: the more the fewer there are for training; none\: all alike (default)]:W,..:(balanced none)' \
      '--ema=[Evaluates and saves averages of the weights that keep X of themselves in each step, as 0.9999 (timm'\''s ModelEmaV3; default 0\: none); a run keeps the weights themselves to go on with]:X: ' \
      '--device=[cpu, cuda, cuda\:1... (default cpu); or a GPU that is not there\: a100, h100, h200, l40s, rtx3060, rtx3090, rtx4090, rtx5090, or a JSON file that describes one; ,memory=SIZE after it\: with so much memory]:NAME:(cpu cuda a100 h100 h200 l40s rtx3060 rtx3090 rtx4090 rtx5090)' \
      '--tf32[On a GPU\: convolutions and products may round f32 factors to TF32]' \
      '--fast-conv[On a GPU\: convolutions may round more\: Winograd'\''s algorithm, FFT, factors and sums in less than f32]' \
      '--deterministic[On a GPU\: the same bits in every run (the CPU gives them anyway)]' \
      '--workspace-limit=[On a GPU\: scratch memory that one convolution may take (default 1GiB)]:SIZE: ' \
      '--no-winograd[On a CPU\: no convolutions by Winograd'\''s algorithm, which is faster for 3x3 and 5x5 kernels of stride 1, but rounds up to three times as much and takes more scratch memory]' \
      '--fast-f32[On a CPU with AMX\: f32 convolutions as three of bf16, which round more]' \
      '--autotune=[Takes for each convolution the algorithm (on a GPU cuDNN'\''s engine) that is fastest here, which is tried once and kept in FILE (default\: by rule)]:FILE:_files' \
      '--threads=[Worker threads (default 0\: one a processor)]:N: ' \
      '--memopt=[none\: a buffer for each variable; level=0\: those of dead variables of the same shape; level=1\: of any dead one that is large enough; each with ,release (given back within the step) and ,inplace; level=2\: one exact arena, and as much computed again as a hundredth of a step pays for; level=3\: all that a budget or an overhead asks for computed again (default none)]:SETTING: ' \
      '--skip-vars=[Variables that keep memory of their own]:A,B: ' \
      '--skip-grads[So does each parameter gradient given to an optimizer op]' \
      '--format=[text\: a table of layers (default); program, json or dot\: the training program with its backward and update ops]:FORM:(text program json dot)' \
      '--eval[The program of evaluation instead]' ;;
    'tables') _arguments \
      '-h[Print this help message and exit]' \
      '--help[Print this help message and exit]' \
      '--version[Display program version information and exit]' \
      '--table=[Only table 1, 2 or 3]:N:(1 2 3)' \
      '--net=[Only alexnet, vgg-A, googlenet or resnet110]:NAME:(alexnet vgg-A googlenet resnet110)' \
      '--measure[Runs every network, before and after, and prints what the device handed out]' \
      '--device=[cpu, cuda, cuda\:1... (default cpu)]:NAME:(cpu cuda)' \
      '--tf32[On a GPU\: convolutions and products may round f32 factors to TF32]' \
      '--fast-conv[On a GPU\: convolutions may round more\: Winograd'\''s algorithm, FFT, factors and sums in less than f32]' \
      '--deterministic[On a GPU\: the same bits in every run (the CPU gives them anyway)]' \
      '--eager[On a GPU\: runs steps launch by launch, not as a recorded graph]' \
      '--workspace-limit=[On a GPU\: scratch memory that one convolution may take (default 1GiB)]:SIZE: ' \
      '--no-winograd[On a CPU\: no convolutions by Winograd'\''s algorithm, which is faster for 3x3 and 5x5 kernels of stride 1, but rounds up to three times as much and takes more scratch memory]' \
      '--fast-f32[On a CPU with AMX\: f32 convolutions as three of bf16, which round more]' \
      '--threads=[Worker threads (default 0\: one a processor)]:N: ' \
      '--quiet[No word on which network is being run]' \
      '--format=[text (default), md, csv, json]:FORM:(text md csv json)' ;;
    'timeline') _arguments \
      '-h[Print this help message and exit]' \
      '--help[Print this help message and exit]' \
      '--version[Display program version information and exit]' \
      '--model=[Network\: a name of the zoo, a JSON file, hf\:DIR, a folder of Hugging Face, or gguf\:FILE]:NAME|FILE: _train_words_or_files adaptive_depth alexnet bert bert_base char_gpt char_gpt_cpu char_gru char_lstm early_exit googlenet gpt2 gpt2_large gpt2_medium gpt2_xl lenet llama mlp mlp_mixer optnet/alexnet optnet/googlenet optnet/resnet110 optnet/vgg_a resnet110 resnet1202 resnet20 resnet32 resnet44 resnet50 resnet56 resnet_cifar resnet_imagenet resnext50 se_resnext152 se_resnext50 seq2seq_copy table tinyllama transformer unet vgg16 vgg_a vit vit_s16 vit_tiny' \
      '--set=[Sets a var of the network file; may be repeated]:K=V: ' \
      '--dtype=[Numbers\: f32, f64; bf16 or f16 with parameters and statistics in f32 (default f32)]:TYPE:(f32 f64 bf16 f16)' \
      '--lora=[Trains low-rank adapters beside weights that stay as they are, as '\''r=16,alpha=32,dropout=0.05,rslora'\'', or some of these words (default r=8,alpha=8); none\: there are none]:[WORDS]: ' \
      '--lora-targets=[Layers with adapters\: names or their ends, ours or a library'\''s, as '\''q_proj,v_proj'\'', * for any characters, with =RANK or =RANK/ALPHA of their own; all-linear\: all but the output'\''s (default\: the network'\''s)]:NAMES: ' \
      '--lora-train=[Of --lora\: trains these parameters beside the adapters, as '\''*.bias,logits.*'\''; none\: the adapters alone]:NAMES: ' \
      '--batch=[Samples a step (default\: the network'\''s)]:N: ' \
      '--micro-batch=[Samples that go through the network at once (default\: the batch); a step sums the gradients of all of them. Batch norm takes its statistics of these]:M: ' \
      '--accumulate=[Sums of the parts'\'' gradients\: bf16, each rounded up or down by chance, or f32 (default)]:TYPE:(f32 bf16)' \
      '--lr=[Learning rate (default\: the network'\''s)]:X: ' \
      '--schedule=[Course of the learning rate\: constant, cosine, poly, one-cycle, step@30ex0.1, exp@1ex0.95, multistep@80e,120ex0.1; after any but one-cycle a warm-up\: +warmup@500 (default\: the network'\''s)]:SPEC: ' \
      '--optimizer=[sgd, momentum, nesterov, adam, adamw, rmsprop, lion or adafactor (default\: the network'\''s)]:NAME:(sgd momentum nesterov adam adamw rmsprop lion adafactor)' \
      '--momentum=[Momentum (default\: the network'\''s)]:X: ' \
      '--beta1=[Of adam, adamw and lion\: what the mean of gradients keeps (default 0.9)]:X: ' \
      '--beta2=[Of adam and adamw\: what the mean of their squares keeps (default 0.999); of lion\: what the mean of gradients keeps for the next step (default 0.99)]:X: ' \
      '--eps=[Of adam, adamw and rmsprop\: what is added to a root (default 1e-8)]:X: ' \
      '--weight-decay=[Weight decay, not on bias and norm (default\: the network'\''s)]:X: ' \
      '--decay-all[Weight decay on bias and norm too]' \
      '--decay=[Weight decay on these parameters too\: names with commas between, * for any characters]:NAMES: ' \
      '--no-decay=[No weight decay on these parameters, as '\''tokens.*,positions.*'\'']:NAMES: ' \
      '--lr-of=[Learning rates of their own, as '\''head.*=10x,norm.*=3e-4'\''\: times that of the others, or a rate that follows the schedule too; * stands for any characters, and the last that means a parameter counts; none\: all have the same]:RATES: ' \
      '--layer-decay=[Each layer has X times the learning rate of the layer above it, the head all of it (default 1)]:X: ' \
      '--loss-scale=[Of --dtype f16\: what the loss is scaled by at first (default 65536); it halves and doubles by itself]:X: ' \
      '--clip-norm=[Scales gradients down to this global norm; 0\: no limit (default\: the network'\''s)]:X: ' \
      '--clip-passes=[2\: backward runs twice, first for the norm of all gradients and then for the updates, so that none stands until the last is there; same results (default 1; at level=3 2 where a budget needs it)]:N:(1 2)' \
      '--state-dtype=[Of the optimizer'\''s states\: 8bit for momentum, nesterov, adam, adamw and lion, but of small parameters and tables of embeddings, or f32 (default\: as parameters are computed)]:TYPE:(f32 8bit)' \
      '--param-dtype=[Of trained parameters of two axes or more\: bf16, which updates round by chance, or f32 (default)]:TYPE:(f32 bf16)' \
      '--grad-dtype=[Of gradients of parameters of two axes or more\: bf16 or f16, as --dtype, in which backward computes them and PyTorch keeps them, or f32 (default)]:TYPE:(f32 bf16 f16)' \
      '--keep-f32=[Of --state-dtype 8bit and --param-dtype bf16\: these parameters and their states stay in f32, as '\''logits.*'\''; none\: no others]:NAMES: ' \
      '--freeze=[Leaves these parameters as they are\: names, ours or a library'\''s, with commas between, * for any characters, as '\''tokens.*,block*'\''; none\: trains all]:NAMES: ' \
      '--train-only=[Trains these parameters and leaves all others; none\: trains all]:NAMES: ' \
      '--frozen-dtype=[Of frozen parameters of two axes or more\: bf16 or f16 halve them, int8 and q8_0 take a quarter, q4_0, q4_1, nf4 and nf4-dq an eighth, f32 (default\: as all others); or by names, of which the first that mean a parameter count\: '\''tokens.*=q8_0,logits.*=q8_0,*=nf4-dq'\'']:TYPE: ' \
      '--class-weights=[What a label of each class counts in the loss\: a number for each; balanced\: the more the fewer there are for training; none\: all alike (default)]:W,..:(balanced none)' \
      '--ema=[Evaluates and saves averages of the weights that keep X of themselves in each step, as 0.9999 (timm'\''s ModelEmaV3; default 0\: none); a run keeps the weights themselves to go on with]:X: ' \
      '--eval[Of evaluation instead of training]' \
      '--device=[cpu, cuda, cuda\:1... (default cpu); or a GPU that is not there\: a100, h100, h200, l40s, rtx3060, rtx3090, rtx4090, rtx5090, or a JSON file that describes one; ,memory=SIZE after it\: with so much memory]:NAME:(cpu cuda a100 h100 h200 l40s rtx3060 rtx3090 rtx4090 rtx5090)' \
      '--tf32[On a GPU\: convolutions and products may round f32 factors to TF32]' \
      '--fast-conv[On a GPU\: convolutions may round more\: Winograd'\''s algorithm, FFT, factors and sums in less than f32]' \
      '--deterministic[On a GPU\: the same bits in every run (the CPU gives them anyway)]' \
      '--workspace-limit=[On a GPU\: scratch memory that one convolution may take (default 1GiB)]:SIZE: ' \
      '--no-winograd[On a CPU\: no convolutions by Winograd'\''s algorithm, which is faster for 3x3 and 5x5 kernels of stride 1, but rounds up to three times as much and takes more scratch memory]' \
      '--fast-f32[On a CPU with AMX\: f32 convolutions as three of bf16, which round more]' \
      '--autotune=[Takes for each convolution the algorithm (on a GPU cuDNN'\''s engine) that is fastest here, which is tried once and kept in FILE (default\: by rule)]:FILE:_files' \
      '--threads=[Worker threads (default 0\: one a processor)]:N: ' \
      '--out=[Writes the page there, such as timeline.html]:FILE:_files' ;;
    'tokenize') _arguments \
      '-h[Print this help message and exit]' \
      '--help[Print this help message and exit]' \
      '--version[Display program version information and exit]' \
      '*:FILE...: ' \
      '--out=[Directory to make\: shards of tokens, and what tells them apart]:DIR:_files -/' \
      '--tokenizer=[bytes (default), chars\: the characters that occur; DIR\: those of the tokenizer there, by vocab.json and merges.txt (GPT-2'\''s), tokenizer.json, tokenizer.model or vocab.txt]:DIR|bytes|chars:_files -/' \
      '--end-token=[Stands after each document\: a token of DIR (default\: the one that DIR says ends a text, if any); of bytes and chars one more, whatever it is called (default\: none)]:TOKEN: ' \
      '--separator=[What stands between the documents of a file; is left out]:TEXT: ' \
      '--val=[The last so many percent of the text are for tests (default 10)]:PERCENT: ' \
      '--shard-tokens=[Most tokens of a file (default 100,000,000)]:N: ' \
      '--quiet[No progress; results and errors only]' ;;
  esac
}
if [[ $funcstack[1] == _train ]]; then _train "$@"; else compdef _train train; fi
