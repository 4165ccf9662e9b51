"""The rating service and the HTTP API; needs the extra `serve`."""
