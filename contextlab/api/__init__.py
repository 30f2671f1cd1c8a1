"""The JSON API, thin, over queries and services."""
