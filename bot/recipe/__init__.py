"""What CI did, as data: in which image, after which set-up, with which checks, and where each of them was read."""

from bot.domain.recipe import Recipe
from bot.recipe.infer import infer
from bot.recipe.toolchain import DEFAULT_IMAGE

__all__ = ["DEFAULT_IMAGE", "Recipe", "infer"]
