"""Products above the core: the core never imports them."""
