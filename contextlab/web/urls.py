"""The addresses of pages and panels: each module in pages/ brings its own, named here so that none is forgotten."""

from django.urls import URLPattern, URLResolver

PAGES: tuple[list[URLPattern | URLResolver], ...] = ()

urlpatterns: list[URLPattern | URLResolver] = [address for page in PAGES for address in page]
