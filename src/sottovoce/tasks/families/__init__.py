"""Families of questions: too many members to list in a document, so each follows from its index."""
