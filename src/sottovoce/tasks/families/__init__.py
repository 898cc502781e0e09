"""Families of questions: members that are made when they are asked for."""
