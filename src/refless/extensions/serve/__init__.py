"""The services: the page on which people rate, and estimates over HTTP."""

from refless.registry.offered import Command

RATE = Command(
    "Serve a page on which people rate outputs, and one that shows what is known so far.",
    "refless.extensions.serve.rate",
    "Collect",
)
SERVE = Command(
    "Serve estimates over HTTP: POST /estimate, POST /compare.",
    "refless.extensions.serve.serve",
    "Estimate",
)
