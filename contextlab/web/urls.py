"""The addresses of pages and panels: each module in pages/ brings its own, named here so that none is forgotten."""

from django.urls import URLPattern, URLResolver

from contextlab.web.pages import (
    chart,
    compact,
    compaction,
    copy,
    data,
    files,
    health,
    imports,
    item,
    lineage,
    map,
    model,
    offloads,
    policies,
    policy,
    runs,
    session,
    sessions,
    step,
    turn,
)

PAGES = (
    sessions,
    imports,
    runs,
    files,
    data,
    health,
    session,
    turn,
    step,
    item,
    copy,
    chart,
    map,
    model,
    offloads,
    compaction,
    compact,
    lineage,
    policies,
    policy,
)

urlpatterns: list[URLPattern | URLResolver] = [address for page in PAGES for address in page.urlpatterns]
