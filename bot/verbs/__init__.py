"""One file per family of commands, loaded only when asked for: reading a log needs no Docker, GitHub or model."""
