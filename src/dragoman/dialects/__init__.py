"""One dialect a file; `dragoman.registry` finds them by their being here."""
