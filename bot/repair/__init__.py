"""The code-test-fix loop: the part that everything else serves."""
