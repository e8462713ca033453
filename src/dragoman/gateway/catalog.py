"""The models that the gateway serves, by the names that clients call them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..errors import Refused
from .served import ServedModel, load_model

__all__ = ["Catalog"]


class Catalog:
    """Models by name and alias; those that are only on `offer` are made when somebody first asks for them."""

    def __init__(self, models: Iterable[ServedModel] = ()) -> None:
        self._models = {name: model for model in models for name in (model.name, *model.aliases)}
        self._named: dict[str, None] = {}

    def __getitem__(self, name: str) -> ServedModel:
        """The model that a request names; the only one, if it names none. Raises `Refused`."""
        if not name and len(self._models) == 1:
            return next(iter(self._models.values()))
        found = self._models.get(name)
        if found is None:
            if name not in self._named:
                raise Refused(404, "model_not_found", self._unknown(name), param="model")
            found = self._models[name] = load_model(name, dialect=name)
        return found

    def add(self, model: ServedModel) -> None:
        """One model more, or another one of this name."""
        self._models |= dict.fromkeys((model.name, *model.aliases), model)

    def offer(self, dialects: Iterable[str]) -> None:
        """Models that are called as the dialects that they speak."""
        self._named |= dict.fromkeys(dialects)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all models, without aliases."""
        return tuple(dict.fromkeys([*(model.name for model in self._models.values()), *self._named]))

    @property
    def loaded(self) -> Mapping[str, ServedModel]:
        """The models that are there, by name and alias."""
        return self._models

    def _unknown(self, name: str) -> str:
        from difflib import get_close_matches

        if not name:
            return "the request names no model; GET /v1/models lists those that are served"
        near = get_close_matches(name[:256], self.names, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "GET /v1/models lists those that are served"
        return f"the model {name[:256]!r} is not served here; {hint}"
