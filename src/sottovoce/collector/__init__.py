"""The collector: publishes tasks, accepts reports over HTTP, and runs plans until they answer."""
