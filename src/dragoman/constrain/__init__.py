"""Constraints: what a dialect lets a model write, given tools and a request, for engines that enforce it."""
