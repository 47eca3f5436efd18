// All ops.
#pragma once

#include "emplace/nn/categorical.hpp"
#include "emplace/nn/dropout.hpp"
#include "emplace/nn/layers.hpp"
#include "emplace/nn/recurrent.hpp"
#include "emplace/nn/segment_attention.hpp"
#include "emplace/nn/sparse.hpp"
