"""The nouns of selfrepair: standard library only, no I/O, no clock, no environment."""
