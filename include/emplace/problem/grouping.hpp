// Units: sets of ops that a policy or placer puts on one device together (single ops, co-location groups, chains ...).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emplace/base/random.hpp"
#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"

namespace emplace {

// op: every op is a unit of its own. Co-location groups are ignored, so a policy can split a group, and its placement
// is then infeasible.
// colocation: the ops of one co-location group are one unit.
// chain: colocation, and then an edge is contracted if its producer unit has no other consumer unit and its consumer
// unit has no other producer unit (HSDAG's rule, on the graph of units: several tensors between two units are one
// edge).
// random: each unit of colocation is drawn into one of `at_most` groups. `op` and `random` are the ablations "no
// grouping" and "random grouping" of the Hierarchical Planner (docs/papers/hierarchical.md, section 2.8).
//
// single-parent: colocation, and then each unit with exactly one producer unit is joined with that one, even if the
// producer has other consumers (the rule of HSDAG's released code; docs/papers/hsdag.md, section 2.1).
//
// Contracting a chain never creates a cycle between units, because such a cycle would have to leave the producer by
// another edge than the contracted one. Neither does joining a unit with its only producer, because all edges into the
// joined unit enter the producer. Cycles that exist already because of co-location groups (group {a, c} around b)
// remain, or are merged into one unit if no other unit is connected with them.
//
// even: colocation; where units are merged further (`at_most` of make_grouping), they tend to have similar work.
// layers: even, but ops of different layers of the model are merged only if there would otherwise be more units than
// `at_most`. Ops without a layer may join any; without layers it is `even`.
//
// colocrl: colocation, and then each op whose outputs have exactly one distinct consuming op is joined with that op
// (ColocRL, docs/papers/colocrl.md, section 2.1; control edges count). colocrl-group repeats the rule on the units
// until no unit has exactly one distinct consuming unit. A join that would create a cycle between units is left out.
// colocrl-blocks: as colocrl, but before its second rule the ops of each time step and of each convolution block of the
// model are joined by their names, gradients and updates with the ops that they are of (the paper's rule 3); the ops of
// a block do not join their consumers.
enum class GroupingKind : std::uint8_t {
  op,
  colocation,
  chain,
  random,
  colocrl,
  colocrl_group,
  colocrl_blocks,
  single_parent,
  even,
  layers
};

GroupingKind grouping_of(std::string_view name, const std::string& place);
std::string_view name_of(GroupingKind kind);
const std::vector<std::string>& grouping_names();

// Which neighbour a unit is merged into, where units are merged further: the one with which it exchanges most bytes, or
// most bytes divided by the neighbour's work.
enum class Merging : std::uint8_t { most_bytes, most_bytes_for_work };

// U units, numbered by their first op in topological order; those of colocrl are in topological order of the graph of
// units, with the unit of the smallest op id first among those that are ready.
struct Grouping {
  std::vector<std::uint32_t> unit_of_op;  // N
  Lists members;                          // U rows of op ids, ascending
  std::vector<std::uint8_t> allowed;      // U x D: 1 if the device can run every member
  Merging merging = Merging::most_bytes;  // most_bytes_for_work: of kind `even` or `layers`, or merged from such units

  [[nodiscard]] std::size_t count() const { return members.rows(); }
  [[nodiscard]] std::size_t device_count() const { return count() == 0 ? 0 : allowed.size() / count(); }
  [[nodiscard]] bool allows(std::size_t unit, std::size_t device) const {
    return allowed[unit * device_count() + device] != 0;
  }
  // The placement of all ops, given one device per unit.
  [[nodiscard]] Placement expand(const std::vector<std::uint8_t>& device_of_unit) const;
  // The same, written into an existing placement, whose order is cleared.
  void expand(const std::vector<std::uint8_t>& device_of_unit, Placement& placement) const;
  // The device of each unit's first op: the inverse of expand().
  [[nodiscard]] std::vector<std::uint8_t> read(const Placement& placement) const;
};

// `at_most` above 0: units are merged until at most that many remain. Each merge joins the unit of least work with the
// neighbour with which it exchanges most bytes (docs/papers/placeto.md, section 2.1); units without a possible
// neighbour are merged with each other. Where a tensor has many consumers, or an op sums over all layers, the largest
// unit exchanges most bytes with every other and in the end takes in all of them. `even` and `layers` therefore choose
// the neighbour with most bytes divided by its work, as partitioners rate edges (`expansion*` of Holtgrewe, Sanders,
// Schulz: Engineering a scalable high quality graph partitioner, 2010). Merged units may depend on each other in
// cycles; those of colocrl never do, unless a co-location group or a block causes a cycle. The work of an op is its
// time averaged over the devices that can run it. The run time is near-linear: only the unit of least work is looked
// at, and each merge doubles that least work.
//
// Every unit has at least one device that can run all of it: chains and sets with a single parent are cut where there
// would be none, starting from the producers. InputError if `at_most` exceeds the number of ops, or if that few units
// cannot be reached because no device could run them.
//
// `random` needs `at_most` and is the only kind that depends on the seed. Groups that no unit drew are left out. If the
// drawn group would then have no device that can run it, the unit draws again among the groups for which there is such
// a device; if there are none, it starts one more group.
//
// `max_share`: colocrl makes no joined unit that has more than this share of the total work (sum of each op's fastest
// time). InputError if a value below 1 is given for another kind.
Grouping make_grouping(const Problem& problem, GroupingKind kind, std::size_t at_most = 0,
                       const std::string& place = {}, std::uint64_t seed = 0, double max_share = 1);
// The kind `random` with another random stream, such as that of a sample or an update.
Grouping random_grouping(const Problem& problem, std::size_t groups, Stream random);

// The units whose ops have equal labels (N).
Grouping group_by(const Problem& problem, std::span<const std::uint32_t> label);

// The problem with the units of `grouping` as its co-location groups, so that every placer moves them as a whole.
Problem with_groups(Problem problem, const Grouping& grouping);

// The units of `grouping` merged in the same way until at most `at_most` remain, or as few as devices allow.
Grouping coarsen(const Problem& problem, const Grouping& grouping, std::size_t at_most);
// The same, with the bytes between units multiplied by random factors, so that another random stream gives other units.
Grouping coarsen_at_random(const Problem& problem, const Grouping& grouping, std::size_t at_most, Stream random);
// The same, but only units on the same device are merged. `device` (N): a unit of `grouping` is on the device of its
// first op; if it cannot run there, it may be merged with any units with which it shares a device.
Grouping coarsen_in_place(const Problem& problem, const Grouping& grouping, std::size_t at_most,
                          std::span<const std::uint8_t> device, Stream random);

// `finest` and coarser and coarser groupings made from it, the coarsest first. `merge` makes each next grouping from
// the one before; this ends when at most `coarsest` units remain or `merge` merges nothing.
std::vector<Grouping> levels_of(Grouping finest, std::size_t coarsest,
                                const std::function<Grouping(const Grouping& finer)>& merge);

}  // namespace emplace
