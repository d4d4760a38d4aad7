"""Prime numbers."""


def is_prime(number):
    """Whether a number has exactly two divisors."""
    return number > 1 and all(number % divisor for divisor in range(2, int(number**0.5) + 1))
