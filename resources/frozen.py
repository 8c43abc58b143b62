"""The base class of settings, declarations and records."""

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """An immutable pydantic model that refuses unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)
