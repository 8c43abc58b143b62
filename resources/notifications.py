"""Notifications: messages to the log and, if one is configured, to a webhook.

Here: how a message is sent. Not here: the events that trigger messages (automation).
"""

import logging
import os

from resources.frozen import Frozen

logger = logging.getLogger("variorum.notifications")

logging.getLogger("httpx").setLevel(logging.WARNING)  # at INFO it logs the URL of every request, which is secret

WEBHOOK = "VARIORUM_WEBHOOK"
"""Environment variable that holds the URL, which is secret. If it is not set, messages go to the log only."""

SECONDS = 10.0
"""Timeout of a webhook request, which delays the run."""


class Notifications(Frozen):
    """Sends messages as `{"text": …}`, a format that Slack, Mattermost and most other services accept."""

    def send(self, text: str) -> None:
        """Send a message. If it cannot be delivered, log a warning; never raise."""
        text = text.encode(errors="replace").decode()  # file names may contain lone surrogates
        logger.info("%s", text)
        url = os.environ.get(WEBHOOK)
        if not url:
            return
        import httpx

        try:
            httpx.post(url, json={"text": f"Variorum: {text}"}, timeout=SECONDS).raise_for_status()
        except httpx.HTTPStatusError as error:  # do not log the error itself: it contains the URL
            logger.warning("the webhook in %s answered with status %d", WEBHOOK, error.response.status_code)
        except Exception as error:
            logger.warning("the webhook in %s could not be reached: %s", WEBHOOK, type(error).__name__)
