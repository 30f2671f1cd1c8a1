"""Reads for pages and API: frozen values, no HTTP, no writes."""
