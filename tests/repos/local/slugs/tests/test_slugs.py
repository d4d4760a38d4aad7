import pytest

from slugs import slugify


@pytest.mark.parametrize(
    ("title", "slug"),
    [("hello world", "hello-world"), ("Hello World", "hello-world"), ("Top 10 tips", "top-10-tips"), ("a  --  b", "a-b"), ("C3PO!", "c3po")],
)
def test_slugify(title, slug):
    assert slugify(title) == slug
