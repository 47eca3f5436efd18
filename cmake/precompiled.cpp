// A target needs a source; see precompiled.hpp.
