"""selfrepair: repairs red CI runs, and shows how."""

__version__ = "0.1.0"
