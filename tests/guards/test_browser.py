"""The browser itself keeps to the policy, and the fixture that all browser tests use notices when it has to."""

import pytest
from django.http import HttpResponse
from django.urls import path

PAGE = """<!doctype html><title>as served</title><h1 style="color: red">Hello</h1>
<script>document.title = "changed by a script"</script>"""


def page(request):
    return HttpResponse(PAGE)


urlpatterns = [path("", page), path("favicon.ico", lambda request: HttpResponse(status=204))]


@pytest.mark.urls(__name__)
def test_an_inline_script_and_an_inline_style_do_nothing(live_app):
    """Text from a log that made it into a page as markup would stay without effect, and be noticed."""
    opened = live_app.open("/")
    assert opened.title() == "as served"
    assert len(live_app.problems) == 2
    assert all("Content Security Policy" in problem for problem in live_app.problems)
    live_app.problems.clear()
