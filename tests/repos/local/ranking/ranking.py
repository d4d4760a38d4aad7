"""Who won."""


def ranking(scores):
    """Names by score, the highest first; equal scores in alphabetical order. `scores` maps name to points."""
    return [name for name, _ in sorted(scores.items(), key=lambda item: (item[1], item[0]))]


def podium(scores):
    """The first three names of the ranking."""
    return ranking(scores)[1:3]
