"""Telling people what happened while they were not looking: in the log always, to a webhook where one is named.

Here: how a message is sent. Not here: what is worth one (automation).
"""

import logging
import os

import httpx
from pydantic import BaseModel, ConfigDict

logger = logging.getLogger("variorum.notifications")

logging.getLogger("httpx").setLevel(logging.WARNING)  # at INFO it writes the URL of every request, a secret here

SECONDS = 10.0
"""How long a webhook may take; a message is worth no more of a run's time."""


class Notifications(BaseModel):
    """Sends messages as `{"text": …}`, which Slack, Mattermost and most others take.

    Parameters
    ----------
    webhook_variable
        Name of the environment variable that holds the URL; it is a secret, so it is in no configuration. Where it is
        not set, messages go to the log alone.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    webhook_variable: str = "VARIORUM_WEBHOOK"

    def send(self, text: str) -> None:
        """Send a message. One that does not arrive is a warning in the log, never the failure of what it tells of."""
        text = text.encode(errors="replace").decode()  # names of files may hold what no log can write
        logger.info("%s", text)
        url = os.environ.get(self.webhook_variable)
        if not url:
            return
        try:
            httpx.post(url, json={"text": f"Variorum: {text}"}, timeout=SECONDS).raise_for_status()
        except httpx.HTTPStatusError as error:  # its own message names the URL, as do those of other errors
            logger.warning("the webhook of %s answered %d", self.webhook_variable, error.response.status_code)
        except Exception as error:
            logger.warning("the webhook of %s was not reached: %s", self.webhook_variable, type(error).__name__)
