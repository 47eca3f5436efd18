// Units that a policy or placer moves as one: single ops, co-location groups, or chains.
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

// op: one unit an op; colocation: ops of one co-location group together; chain: colocation, and then every edge whose
// producer unit has no other consumer unit and whose consumer unit has no other producer unit contracted (HSDAG's
// rule, on the graph of units: two units are joined once, however many tensors run between them). `op` ignores
// co-location, so that a policy can split groups and be told that it is infeasible. random: each unit of colocation
// drawn into one of `at_most` groups. `op` and `random` are the ablations "no grouping" and "random grouping" of the
// Hierarchical Planner (docs/papers/hierarchical.md, section 2.8).
//
// single-parent: colocation, and then each unit with exactly one producer unit joined with that, whatever else the
// producer feeds (the rule of HSDAG's released code; docs/papers/hsdag.md, section 2.1).
//
// Contracting a chain never closes a cycle between units: such a cycle would have to leave the producer by another
// edge than the contracted one; nor does joining a unit with its only producer, as all that enters the whole enters
// the producer. Cycles that co-location groups close themselves (group {a, c} around b) stay, or
// vanish into one unit where nothing else is attached to them.
//
// even: colocation, and where units are merged further, below, they tend to stay of like work.
//
// colocrl: colocation, and then each op whose outputs have exactly one distinct consuming op joined with that (ColocRL,
// docs/papers/colocrl.md, section 2.1; control edges count); colocrl-group repeats the rule on the units until no unit
// has exactly one distinct consuming unit. A join that would close a cycle between units is left out. Rule 3 (by names)
// has no kind.
enum class GroupingKind : std::uint8_t { op, colocation, chain, random, colocrl, colocrl_group, single_parent, even };

GroupingKind grouping_of(std::string_view name, const std::string& place);
std::string_view name_of(GroupingKind kind);
const std::vector<std::string>& grouping_names();

// Which neighbour a unit merges into, where units are merged further: that of most bytes, or of most bytes for its
// work.
enum class Merging : std::uint8_t { most_bytes, most_bytes_for_work };

// U units, numbered by their first op in topological order; of colocrl in topological order of the graph of units, the
// smallest op first.
struct Grouping {
  std::vector<std::uint32_t> unit_of_op;  // N
  Lists members;                          // U rows of op ids, ascending
  std::vector<std::uint8_t> allowed;      // U x D: 1 where every member can run
  Merging merging = Merging::most_bytes;  // for_work: of the kind `even`, or merged from such

  [[nodiscard]] std::size_t count() const { return members.rows(); }
  [[nodiscard]] std::size_t device_count() const { return count() == 0 ? 0 : allowed.size() / count(); }
  [[nodiscard]] bool allows(std::size_t unit, std::size_t device) const {
    return allowed[unit * device_count() + device] != 0;
  }
  // The placement of ops for one device a unit.
  [[nodiscard]] Placement expand(const std::vector<std::uint8_t>& device_of_unit) const;
  // The same into a placement that is there already; its order is cleared.
  void expand(const std::vector<std::uint8_t>& device_of_unit, Placement& placement) const;
};

// `at_most` above 0: units are merged further, the one of least work into the neighbour with which it exchanges most
// bytes (docs/papers/placeto.md, section 2.1), until at most that many remain; units without a neighbour to merge into
// join each other. Where a tensor of many consumers, or a sum over all layers, makes most bytes a matter of size, all
// that is left ends in one unit: `even` takes the neighbour of most bytes for its work, as partitioners rate edges
// (`expansion*` of Holtgrewe, Sanders, Schulz: Engineering a scalable high quality graph partitioner, 2010). Merged
// units may depend on each other in cycles, but for those of colocrl, which never do unless co-location groups close
// one. Work is an op's time averaged over the devices that can run it. Near-linear time: a unit is looked at only as
// the one of least work, and each merge doubles that.
//
// No merge, of a chain or otherwise, leaves a unit without a device that can run it: chains and sets of a single parent
// are cut there, from the producers' end. InputError if `at_most` exceeds the number of ops, or if devices allow no
// merging that far.
//
// `random` needs at_most and is the only kind that depends on the seed. It leaves out groups that nobody drew. A draw
// that would leave a group without a device that can run it is made among the groups that would keep one; where there
// are none, the unit opens one more group.
//
// `max_share`: colocrl joins no units to one of more than this share of the total work (each op's fastest time).
// InputError if it is given (below 1) for another kind.
Grouping make_grouping(const Problem& problem, GroupingKind kind, std::size_t at_most = 0,
                       const std::string& place = {}, std::uint64_t seed = 0, double max_share = 1);
// What `random` does, for other streams of draws: of a sample, of an update.
Grouping random_grouping(const Problem& problem, std::size_t groups, Stream random);

// The units of `grouping` merged in the same way until at most `at_most` remain, or as few as devices allow.
Grouping coarsen(const Problem& problem, const Grouping& grouping, std::size_t at_most);
// The same, but only units on one device merge, and the bytes that they exchange weigh more or less at random: another
// draw gives other units. `device`: N, each unit of `grouping` is where its first op is.
Grouping coarsen_in_place(const Problem& problem, const Grouping& grouping, std::size_t at_most,
                          std::span<const std::uint8_t> device, Stream random);

// `finest` and ever coarser ones, the coarsest first, until at most `coarsest` units remain or `merge` merges nothing:
// it makes a coarser one of a finer one, of the wanted number of units or more.
std::vector<Grouping> levels_of(Grouping finest, std::size_t coarsest,
                                const std::function<Grouping(const Grouping& finer)>& merge);

}  // namespace emplace
