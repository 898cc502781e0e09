"""Wang et al. 2020: post-processing to consistency."""
