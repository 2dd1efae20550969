//! Key distributions, request mixes and seeds for measuring ordered indexes.
