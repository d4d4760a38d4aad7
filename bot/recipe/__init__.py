"""What CI did, as data: in which image, after which set-up, with which checks, and where each of that is written."""

from __future__ import annotations

from bot.recipe.infer import DEFAULT_IMAGE, infer
from bot.recipe.made import Recipe, SetupStep

__all__ = ["DEFAULT_IMAGE", "Recipe", "SetupStep", "infer"]
