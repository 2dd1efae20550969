//! Adapters that drive published ordered maps as latchless drives its own.
