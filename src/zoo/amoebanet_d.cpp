// AmoebaNet-D (Real et al. 2018, "Regularized Evolution for Image Classifier Architecture Search", appendix D), with
// the wiring, the 18 cells of 256 filters, the stem and the 299 x 299 images of the reference implementation for TPUs.
// Published sizes: 18 cells have 82 M parameters with 208 filters and 318 M with 416 (Huang et al. 2019, "GPipe",
// table 1). No auxiliary head and no drop path.
#include "zoo/cell_network.hpp"
#include "zoo/models.hpp"

namespace emplace::zoo {

namespace {

struct AmoebanetOptions : CellNetworkOptions {
  AmoebanetOptions() {
    image = 299;
    filters = 256;
  }
};
void describe(AmoebanetOptions& options, OptionVisitor& visit) { describe_cell_network(options, visit); }

const CellNetwork amoebanet_d{
    .name = "amoebanet-d",
    .normal = {.operations = {"1x1", "max_pool_3x3", "none", "1x7_7x1", "1x1", "1x7_7x1", "max_pool_3x3", "none",
                              "avg_pool_3x3", "1x1"},
               .inputs = {1, 1, 1, 0, 0, 0, 2, 2, 1, 5},
               .used = {false, true, true, false, false, true, false}},
    .reduction = {.operations = {"max_pool_2x2", "max_pool_3x3", "none", "3x3", "1x7_7x1", "max_pool_3x3", "none",
                                 "max_pool_2x2", "avg_pool_3x3", "1x1"},
                  .inputs = {0, 0, 2, 1, 2, 2, 3, 1, 2, 3},
                  .used = {true, true, true, true, false, false, false}},
    .stem_filters = 32,
    .skips_reduction = false};

}  // namespace

ZooEntry amoebanet_d_entry() {
  ZooEntry entry;
  entry.name = "amoebanet-d";
  entry.summary = "AmoebaNet-D for ImageNet: evolved cells of factorised convolutions and pooling.";
  entry.reference = "Real et al. 2018; as in Zhou et al. 2019, 2020";
  entry.options = list_options<AmoebanetOptions>;
  entry.expert = expert_in_parts;
  entry.build = [](const ConfigTable& table) {
    return build_cell_network(amoebanet_d, read_options<AmoebanetOptions>(table));
  };
  return entry;
}

}  // namespace emplace::zoo
