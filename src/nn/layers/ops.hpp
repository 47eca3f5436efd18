// All ops.
#pragma once

#include "nn/layers/categorical.hpp"
#include "nn/layers/dropout.hpp"
#include "nn/layers/layers.hpp"
#include "nn/layers/recurrent.hpp"
#include "nn/layers/segment_attention.hpp"
#include "nn/layers/sparse.hpp"
