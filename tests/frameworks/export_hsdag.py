"""Writes the three graphs of HSDAG's paper as OpenVINO IR without weights, and prints their nodes and edges.

Usage: export_hsdag.py FOLDER
"""
import os
import sys
import warnings
import xml.etree.ElementTree

warnings.filterwarnings("ignore")

import openvino  # noqa: E402
import torch  # noqa: E402

from architectures import scatter  # noqa: E402


def inception():
    import torchvision
    # The pretrained model, which the paper has, rescales its input: these are ops of the graph.
    return torchvision.models.inception_v3(weights=None, init_weights=False, transform_input=True), torch.rand(1, 3, 299, 299)


def resnet():
    import torchvision
    return torchvision.models.resnet50(weights=None), torch.rand(1, 3, 224, 224)


def bert():
    import transformers
    # The released code: "one short sentence".
    sentence = {"input_ids": torch.ones(1, 8, dtype=torch.long), "attention_mask": torch.ones(1, 8, dtype=torch.long),
                "token_type_ids": torch.zeros(1, 8, dtype=torch.long)}
    return transformers.BertModel(transformers.BertConfig(return_dict=False)), sentence


def values(inputs):
    return inputs.values() if isinstance(inputs, dict) else [inputs]


# Nodes and edges of the paper, Table 1.
GRAPHS = {"inception-v3": (inception, 728, 764), "resnet-50": (resnet, 396, 411), "bert-base": (bert, 1009, 1071)}


def main(folder):
    for name, (make, nodes, edges) in GRAPHS.items():
        torch.manual_seed(1)
        model, inputs = make()
        scatter(model)
        path = f"{folder}/{name}.xml"
        converted = openvino.convert_model(model.eval(), example_input=inputs)
        for parameter, value in zip(converted.get_parameters(), values(inputs)):  # reshape() would change the graph
            parameter.set_partial_shape(openvino.PartialShape(list(value.shape)))
        converted.validate_nodes_and_infer_types()
        openvino.save_model(converted, path)
        os.remove(path.removesuffix(".xml") + ".bin")
        net = xml.etree.ElementTree.parse(path).getroot()
        print(f"{name}: {len(net.find('layers'))} nodes, {len(net.find('edges'))} edges; "
              f"the paper's has {nodes} and {edges}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
