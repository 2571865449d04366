"""Faults that the checks of the memory stage must find: each changes one place of a pass or of what it looks at.

(name, file, what stands there, what stands there instead). `run` tries them all. Where SURVIVES has the name, nothing
is wrong with the program or the plan that comes of it, for the reason given there.
"""

LIVENESS = "memopt/analysis/liveness.cpp"
CARRY = "memopt/analysis/carry.cpp"
PINS = "memopt/analysis/pins.cpp"
SHARING = "memopt/passes/sharing.cpp"
REUSE = "memopt/passes/reuse.cpp"
ARENA = "memopt/passes/arena.cpp"
EARLY = "memopt/passes/early_update.cpp"
GATHER = "memopt/passes/gather_updates.cpp"
FUSE = "memopt/passes/fuse_activations.cpp"
STAGE = "memopt/passes/stage_inputs.cpp"
VIEWS = "memopt/passes/views_for_copies.cpp"
RELEASE = "memopt/passes/release.cpp"
MASK = "memopt/passes/mask_picked.cpp"
FUSE_MASKS = "memopt/passes/fuse_masks.cpp"
PRODUCTS = "memopt/passes/fuse_products.cpp"
SUMS = "memopt/passes/fuse_sums.cpp"
JOIN_SUMS = "memopt/passes/join_sums.cpp"
JOIN_MASKS = "memopt/passes/join_masks.cpp"
MASK_SUMS = "memopt/passes/mask_sums.cpp"
CASTS = "memopt/passes/fuse_casts.cpp"
COPIES = "memopt/passes/fuse_copies.cpp"
UPDATES = "memopt/passes/fuse_updates.cpp"
REWRITER = "memopt/passes/rewriter.h"
USES = "memopt/analysis/uses.h"
WALK = "memopt/recompute/walk.cpp"
TAPE = "memopt/recompute/tape.cpp"
FREE = "memopt/recompute/nearly_free.cpp"
ORDER = "memopt/recompute/order_search.cpp"
ORDERED = "memopt/recompute/least_order.cpp"
FOOTPRINT = "framework/language/footprint.h"
PIPELINE = "memopt/plan.cpp"

MUTATIONS = [
    # Lives
    ("a value dies with its last reader", LIVENESS, "{first, last + 1});", "{first, last});"),
    ("what a loop reads dies before its trips", LIVENESS, "touch({own, op.in.end()}, first, last);",
     "touch({own, op.in.end()}, first, first);"),
    ("what a loop gives dies before its trips", LIVENESS, "touch(op.out, first, last);",
     "touch(op.out, first, first);"),
    ("results of a block are read by nobody", LIVENESS,
     "touch(program_.blocks[body].results, last, last);", ""),
    ("a branch reads its first inputs before it runs", LIVENESS,
     "op.type == kWhile ? loop_carried(program_, op) : 0", "loop_carried(program_, op)"),
    ("inputs are there when they are read", LIVENESS,
     "if (program.vars[v].kind == Kind::Input) live_.vars[v] = {.born = 0, .dies = 0};", ""),
    ("joined lives end with the second", LIVENESS, "std::max(a.dies, b.dies)", "b.dies"),
    ("joined lives begin with the second", LIVENESS, "std::min(a.born, b.born)", "b.born"),
    # What loops and branches hand on
    ("a loop within a trip reads all at its begin", CARRY,
     "throughout ? live.ops[block][i].last : live.ops[block][i].first", "live.ops[block][i].first"),
    ("reads of loops and branches do not count", CARRY, "if (reads == 0) continue;",
     "if (reads == 0 || !op.blocks.empty()) continue;"),
    ("what is read twice is handed over", CARRY, "if (reads == 1 && is_read", "if (is_read"),
    ("what is pinned in a loop is kept from its birth on", CARRY,
     "op.type == kWhile ? live.ops[block][index].first : begins[block]", "begins[block]"),
    # Pins
    ("what is fetched is not kept", PINS, "pins[v] = Pin::Fetched;", "pins[v] = Pin::None;"),
    ("what is skipped is not kept", PINS, "pins[named_var(program, name)] = Pin::Skipped;",
     "named_var(program, name);"),
    ("gradients are not kept", PINS, "pins[gradient] = Pin::Gradient;", "pins[gradient] = Pin::None;"),
    ("inputs are not kept", PINS, "pins[v] = Pin::Fed;", "pins[v] = Pin::None;"),
    # In place
    ("outputs take pinned memory", SHARING,
     "if (from.pin != Pin::None) return reason_of(from.pin);", ""),
    ("pinned outputs take memory", SHARING,
     "  if (from.pin != Pin::None) return reason_of(from.pin);\n  if (own.pin != Pin::None) return \"would be pinned with it\";",
     "  if (from.pin != Pin::None) return reason_of(from.pin);"),
    ("outputs take memory that is too small", SHARING,
     "if (!storages.has_room(output, input)) return \"is smaller\";", ""),
    ("outputs lie before what they take", SHARING, "distance(output, input) >= 0 &&", ""),
    ("outputs take memory with other gaps", SHARING,
     "if (!storages.lie_alike(output, input)) return \"has its rows elsewhere\";", ""),
    ("what is taken has no offset", SHARING, "roots_.add({.var = output, .in = input, .offset = 0});",
     "roots_.add({.var = root(output), .in = root(input), .offset = 0});"),
    ("vars lie at the begin of their storages", SHARING, "place.offset += sharing.offset[v];", ";"),
    ("an output takes what its siblings were written over", SHARING,
     "if (own.life.born != step) return \"is younger than what lies with the output\";", ""),
    ("a small part offers all of its root", SHARING,
     "span_of(program_.vars[output]) <= room && ", ""),
    ("rows apart are moved anywhere", SHARING, " && distance(output, input) == 0", ""),
    # Views in place of copies
    ("any kernel takes rows apart", VIEWS, "by == at || op_def", "true || op_def"),
    ("parts begin anywhere", VIEWS, "part.offset % alignment_ != 0", "false"),
    ("what is handed on is a view", VIEWS, "!is_result_[member] &&", ""),
    ("what is updated is a view", VIEWS, "&& !op_def(op.type).updates", ""),
    ("what is pinned or fed is a part", VIEWS, "(!elsewhere || pins_[member] == Pin::None) &&", ""),
    ("parameters are cut without a copy", VIEWS, "!is_persistable(var.kind) &&", ""),
    ("views reach into other blocks", VIEWS, "return by.first == at.first &&", "return"),
    ("a part is there twice", VIEWS, "moved.push_back(root);", ""),
    ("a part of one whole is a part of another", VIEWS, "fills[v] = false;", ""),
    ("outputs take what is needed later", SHARING, "from.life.dies != step + 1", "from.life.dies < step + 1"),
    ("outputs take what the op reads twice", SHARING, "if (reads != 1)", "if (reads < 1)"),
    ("two outputs take one input", SHARING,
     "if (std::any_of(op.out.begin(), op.out.end(), [&](VarId v) { return storages.root(v) == from.root; }))",
     "if (false)"),
    ("outputs take memory of another block", SHARING,
     "if (program.vars[v].block != block) return \"is of another block\";", "(void)v;"),
    ("any input is offered", SHARING, "if (pair.out == slot) inputs", "if (pair.out >= 0) inputs"),
    ("results take pinned memory", SHARING,
     "if (into.pin != Pin::None) return reason_of(into.pin);", ""),
    ("pinned results take memory", SHARING,
     "    if (into.pin != Pin::None) return reason_of(into.pin);\n    if (own.pin != Pin::None) return \"would be pinned with it\";",
     "    if (into.pin != Pin::None) return reason_of(into.pin);"),
    ("results that lie in another block take memory", SHARING,
     "if (program_.vars[own.root].block != body) return \"is of another block\";", ""),
    ("a result is made as what it becomes is read last", SHARING, "last.step < own.life.born ||",
     "last.step <= own.life.born ||"),
    ("a result is made while what it becomes is read", SHARING, "const bool is_over = last.step",
     "const bool is_over = true || last.step"),
    ("what hands over hands over to anyone", SHARING,
     "return storages_.root(v) == own.root; });\n    const bool is_over", "return storages_.root(v) >= 0; });\n    const bool is_over"),
    ("merged storages keep one life", SHARING, "into.life = hull(into.life, of(output).life);", ""),
    ("pinned storages may die", SHARING, "{begins[program.vars[v].block], kForever}",
     "{begins[program.vars[v].block], 0}"),
    ("views have lives of their own", SHARING, "made_[root].life = hull(made_[root].life, live.vars[v]);",
     "made_[root].life = hull(made_[root].life, live.vars[root]);"),
    # Buffers in turn
    ("buffers are free a step early", REUSE, "storages_[*dead].life.dies <= storages_[s].life.born",
     "storages_[*dead].life.dies <= storages_[s].life.born + 1"),
    ("pinned storages take and give buffers", REUSE, "rule_.fit != Fit::Never && storage.pin == Pin::None &&",
     "rule_.fit != Fit::Never &&"),
    ("a buffer is given to two", REUSE, "    pool_.erase(found);\n", ""),
    # The arena
    ("workspaces take no time", ARENA, "add(live.ops[b][i].first, live.ops[b][i].last + 1, bytes)",
     "add(live.ops[b][i].last + 1, live.ops[b][i].last + 1, bytes)"),
    ("storages are born a step late", ARENA, "add(s.life.born, s.life.dies, s.bytes)",
     "add(s.life.born + 1, std::max(s.life.dies, s.life.born + 2), s.bytes)"),
    ("storages take half of their bytes", ARENA, ".size = bytes});", ".size = (bytes + 1) / 2});"),
    ("inputs are counted as temps", ARENA, "bytes.temps = arena - bytes.inputs;", "bytes.temps = arena;"),
    # Early updates
    ("updates do not wait for what they read", EARLY,
     "if (v != kNone) latest = std::max(latest, wrote_[shown_[v]]);", "if (v == kNone) latest = 0;"),
    ("updates do not wait for who reads what they change", EARLY,
     "latest = std::max(latest, touched_[shown_[v]]);", "latest = std::max(latest, wrote_[shown_[v]]);"),
    ("reads are not noted", EARLY,
     "if (v != kNone) touched_[shown_[v]] = std::max(touched_[shown_[v]], position);", ""),
    ("updates stand before what they wait for", EARLY, "std::max(last.dependency(ops[i]), ops[i].role == Role::Backward",
     "std::max(last.dependency(ops[i]) - 1, ops[i].role == Role::Backward"),
    # Masks before pools, sums on the way
    ("what others read is folded away", REWRITER, "uses_.reads(v) == 1 && ", ""),
    ("what is pinned is folded away", REWRITER, " && pins_[v] == Pin::None", ""),
    ("what shows what is updated holds what it was made", USES, "return is_made(v) && is_made(root_[v]);",
     "return is_made(v);"),
    ("what is updated is not what a view of it shows", "memopt/analysis/uses.cpp",
     " || std::any_of(of_root.begin(), of_root.end(), within)", ""),
    ("a product reads gelu's input before it is made", PRODUCTS, " || rewriter.uses().maker(x) > product", ""),
    ("what others read or is pinned is masked in the gradient", FUSE_MASKS,
     "rewriter.made_for_one(gradient.in[rule->input])", "rewriter.uses().maker(gradient.in[rule->input])"),
    ("the mask may read what was updated since", FUSE_MASKS,
     "made && rewriter.stays(*made, gradient) ? ", "made ? "),
    ("any mask goes into the gradient", FUSE_MASKS,
     "op_def(activation->type).part == FusionPart::Activation ? ", "true ? "),
    ("what others read or is pinned is masked before the pool", MASK, "rewriter.made_for_one(a)",
     "rewriter.uses().maker(a)"),
    ("any mask goes before the pool", MASK, "mask.in[0] != y || ", ""),
    ("what others read or is pinned is summed on the way", SUMS, "rewriter.made_for_one(v)",
     "rewriter.uses().maker(v)"),
    ("sums are made before what they add", SUMS, " && !rewriter.uses().is_written(other, op, &add)", ""),
    # Masks of sums and of norms, casts, copies and updates on the way
    ("a norm makes a sum that was read before", JOIN_SUMS, "*readers.front()", "*readers.back()"),
    ("rows apart are joined with a norm", JOIN_MASKS, " && !part[v]", ""),
    ("what others read or is pinned is summed in the mask", MASK_SUMS, "rewriter.made_for_one(mask.in[1])",
     "rewriter.uses().maker(mask.in[1])"),
    ("what others read or is pinned is widened by the update", CASTS, "rewriter.made_for_one(g)",
     "rewriter.uses().maker(g)"),
    ("what was updated since is rounded by its readers", COPIES,
     " && rewriter.is_here(reader->out[0]) &&\n             !rewriter.uses().is_written(param, &cast, reader)",
     " && rewriter.is_here(reader->out[0])"),
    ("a product that is whole with the copy goes by blocks of the parameter", COPIES, " && keeps_bits(*reader, from, to)", ""),
    ("what others read or is pinned is made by the update", UPDATES, "rewriter.made_for_one(g)",
     "rewriter.uses().maker(g)"),
    # Computing again
    ("what has changed since is made again", WALK, "if (tape_->ops[maker].until < i) return false;", ""),
    ("what is made again reads what is gone", WALK,
     "open_.insert(open_.end(), ids_.begin() + again.in, ids_.begin() + again.out);", ""),
    ("a walk goes on from too late", WALK, "std::min(same, kept_looked_[v])", "std::min(same, same)"),
    ("a walk does not note what decides on a form", WALK,
     "std::min(state_.values[v].looked, i)", "std::max(state_.values[v].looked, i)"),
    ("what is changed is made again", TAPE, "!op_def(op.type).updates && !runs_nothing(op)", "!runs_nothing(op)"),
    ("what loops touch is made again", TAPE, "if (!op.blocks.empty() ||", "if (false ||"),
    ("what is pinned is made again", TAPE, "value.lasts || program_", "program_"),
    # What level 2 makes again
    ("a lower peak is no condition", FREE, "lowest.peak < kept ?", "lowest.peak <= kept ?"),
    ("what is nearly free may take as long as it likes", FREE, "kNearlyFree * tape.seconds", "tape.seconds"),
    # The order in which least is alive
    ("an op may run before what it reads is there", ORDER, "if (wrote[v] >= 0) before.insert(wrote[v]);", ""),
    ("a value may be replaced before its readers ran", ORDER,
     "for (const VarId v : call(i).out) before.insert(read[v].begin(), read[v].end());", ""),
    ("an op waits although others would die with it", ORDER, "made >= dead && ", ""),
    ("an op waits although it takes more than who needs it", ORDER,
     " && call(i).workspace + dead - in_place <= margin", ""),
    ("an op waits for room that what lasts does not give", ORDER, "counts(out) && !own.lasts && ", "counts(out) && "),
    ("ops in a row run at once although some of them leave less", ORDER, "may_run && alive < least", "alive < 0 * least"),
    ("a row ends before the op that it is for", ORDER, "has(done, i) && alive <= from.alive",
     "i >= 0 && alive <= from.alive"),
    ("views are made in the end", ORDERED, "if (v != kNone && view[v] >= 0) self(self, std::exchange(view[v], -1));", ";"),
    # Gathered updates
    ("updates wait beyond what they meet", GATHER,
     "release_if([&](const Group& group) { return group.footprint.conflicts_with(ops[i]); });", ""),
    ("only the first that waits is looked at", GATHER, "group->footprint.add(op);",
     "if (group->ops.size() == 1) group->footprint.add(op);"),
    ("who reads what they change does not meet them", FOOTPRINT,
     "if (v != kNone && changed_.count((*storage_)[v]) > 0) return true;", "if (v == kNone) return true;"),
    ("who changes what they read does not meet them", FOOTPRINT,
     "changed_.count((*storage_)[v]) + read_.count((*storage_)[v]) > 0", "changed_.count((*storage_)[v]) > 0"),
    # Inputs of the next step
    ("memory is idle a step early", STAGE, "if (t.until <= step) continue;", "if (t.until <= step + 1) continue;"),
    ("memory is idle that is needed for two steps more", STAGE, "s.bytes, s.life.dies);",
     "s.bytes, s.life.dies == kForever ? kForever : s.life.dies - 2);"),
    ("pinned memory is idle in the end", STAGE, "s.bytes, s.life.dies);",
     "s.bytes, std::min(s.life.dies, live.ticks() / 2));"),
    ("workspaces are idle", STAGE, "if (const Place place = plan.workspaces[b][i]; place.buffer == 0)",
     "if (const Place place = plan.workspaces[b][i]; place.buffer > 0)"),
    ("inputs are staged at the begin of the arena", STAGE, "place.offset += idle_at(*first);",
     "place.offset += 0;"),
    ("what ends early hides what ends late", STAGE, "end = std::max(end, t.end);", "end = t.end;"),
    # Memory given back
    ("pinned buffers are given back", RELEASE, "if (use.pinned || use.last == kNone)", "if (use.last == kNone)"),
    ("buffers are given back an op early", RELEASE, "op_at(live, use.block, use.life.dies - 1)",
     "std::max(0, op_at(live, use.block, use.life.dies - 1) - 1)"),
    ("buffers are given back in the block of their last var", RELEASE,
     "blocks.around(use.block, block_of[v])", "block_of[v]"),
    ("results are given back within their block", RELEASE,
     "for (const VarId v : block.results) blocks[v] = block.parent;", ""),
    ("a buffer lives as long as the var seen last", RELEASE, "use.life = hull(use.life, live.vars[v]);",
     "use.life = live.vars[v];"),
    ("bytes on demand are forgotten", RELEASE, "plan.bytes.temps += plan.on_demand;", ""),
    ("bytes on demand are counted twice", RELEASE, "plan.bytes.temps -= plan.buffers[b].bytes;", ""),
    # Activations on the way
    ("what others read or is pinned is activated", FUSE, "rewriter.made_for_one(x)", "rewriter.uses().maker(x)"),
    # The pipeline
    ("all is said to be kept", PIPELINE,
     "made.plan.kept.push_back(sharing.storages[storage].pin != Pin::None);",
     "made.plan.kept.push_back(sharing.storages[storage].pin != Pin::None || true);"),
]

SURVIVES = {
    "a branch reads its first inputs before it runs":
        "the ops of its sides read them too, at ticks of their own",
    "a loop within a trip reads all at its begin":
        "a result is made by an op of the body itself, before the loop's first tick or after its last",
    "outputs take pinned memory":
        "what is pinned lives to the end, so no op is its last reader",
    "outputs take memory with other gaps":
        "where storages have room for each other, both are of one size and shape, and so of one pitch",
    "what is taken has no offset":
        "where storages have room for each other, both offsets are the same: the room says so",
    "what is updated is a view":
        "only arrays of loops are changed in place, and nothing cuts or joins them",
    "views reach into other blocks":
        "an op lists what its blocks touch outside, and no var of such an op becomes a view",
    "two outputs take one input":
        "no op offers one input to two outputs",
    "results that lie in another block take memory":
        "a block's result is made in the block, and takes memory only of what else is made there",
    "pinned storages take and give buffers":
        "what is pinned lives to the end: it gives nothing, and what it takes nobody holds any more",
    "what is changed is made again":
        "an op that changes a var is not the first that makes it, and what two ops make is kept",
    "what is pinned is made again":
        "what is pinned lives to the end however often it is made, so to make it again takes no byte off",
    "outputs take memory of another block":
        "what a block reads of outside lives until the op of the block ends, so no op in it is the last reader",
    "rows apart are moved anywhere":
        "where storages have room for each other, both offsets are the same: the room says so",
}
