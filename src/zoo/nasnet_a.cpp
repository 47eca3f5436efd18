// NASNet-A (6 @ 4032) (Zoph et al. 2018, "Learning Transferable Architectures for Scalable Image Recognition", figure 4
// and table 2): 88.9 M parameters and 23.8 G multiply-adds at 331 x 331; wiring and stem of the released TensorFlow
// slim model. No auxiliary head (it is not in those figures) and no drop path.
#include "zoo/cell_network.hpp"
#include "zoo/models.hpp"

namespace emplace::zoo {

namespace {

struct NasnetOptions : CellNetworkOptions {};
void describe(NasnetOptions& options, OptionVisitor& visit) { describe_cell_network(options, visit); }

const CellNetwork nasnet_a{
    .name = "nasnet-a",
    .normal = {.operations = {"separable_5x5", "separable_3x3", "separable_5x5", "separable_3x3", "avg_pool_3x3",
                              "none", "avg_pool_3x3", "avg_pool_3x3", "separable_3x3", "none"},
               .inputs = {0, 1, 1, 1, 0, 1, 1, 1, 0, 0},
               .used = {true, false, false, false, false, false, false}},
    .reduction = {.operations = {"separable_5x5", "separable_7x7", "max_pool_3x3", "separable_7x7", "avg_pool_3x3",
                                 "separable_5x5", "none", "avg_pool_3x3", "separable_3x3", "max_pool_3x3"},
                  .inputs = {0, 1, 0, 1, 0, 1, 3, 2, 2, 0},
                  .used = {true, true, true, false, false, false, false}},
    .stem_filters = 96,
    .skips_reduction = true};

}  // namespace

ZooEntry nasnet_a_entry() {
  ZooEntry entry;
  entry.name = "nasnet-a";
  entry.summary = "NASNet-A (6 @ 4032) for ImageNet: searched cells of separable convolutions.";
  entry.reference = "Zoph et al. 2018; as in Addanki et al. 2019";
  entry.options = list_options<NasnetOptions>;
  entry.expert = expert_in_parts;
  entry.build = [](const ConfigTable& table) {
    return build_cell_network(nasnet_a, read_options<NasnetOptions>(table));
  };
  return entry;
}

}  // namespace emplace::zoo
