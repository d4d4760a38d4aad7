"""The only rooms that touch the world: each implements a port or serves one that does."""
