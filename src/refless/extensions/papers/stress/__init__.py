"""Can a metric or an estimator be fooled? The probes of Caglayan et al. (2020), and attacks."""
