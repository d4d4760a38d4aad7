"""Reports in, repair packets out: merged, grouped by cause, ranked, with the right source, within a token budget."""

from bot.packets.assemble import build
from bot.packets.clean import redact_packet
from bot.packets.grouping import Cause
from bot.packets.grouping import causes as causes
from bot.packets.legs import Whole, of_run
from bot.packets.trim import tokens

__all__ = ["Cause", "Whole", "build", "causes", "of_run", "redact_packet", "tokens"]
