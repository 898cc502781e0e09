"""The dashboard: pages for people over the same collector that serves programs."""
