"""Amounts are whole cents, so that sums are exact."""


def parse_amount(text: str) -> int:
    """Turn "12.34" or "7" into cents: 1234 or 700."""
    whole, _, cents = text.strip().partition(".")
    return int(whole) * 100 + int(cents.ljust(2, "0")[:2])


def format_amount(cents: int) -> str:
    """Turn 1234 into "12.34"; negative amounts keep their sign."""
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100}.{abs(cents) % 100}"
