# SPDX-License-Identifier: Apache-2.0
"""The back end of an application: who sends a request, and has the user approved this act?"""
import base64
import json
import urllib.parse
import urllib.request


class NoRedirection(urllib.request.HTTPRedirectHandler):
    """A redirection would send the credential to another address, and believe what that says."""

    def redirect_request(self, *_):
        return None


class SignIn:
    """What a registered service asks latchkey-server."""

    def __init__(self, address, name, credential):
        pair = base64.b64encode(f"{name}:{credential}".encode()).decode()
        self.address, self.authorization = address, "Basic " + pair
        self.opener = urllib.request.build_opener(NoRedirection)

    def post(self, path, kind, body):
        request = urllib.request.Request(self.address + path, body, {
            "Content-Type": kind, "Authorization": self.authorization})
        # An error of HTTP or of the connection is raised: a back end that cannot ask refuses.
        with self.opener.open(request, timeout=5) as reply:
            return json.load(reply)

    def session(self, token, is_use=True):
        """The session of a token that a client sent, with `sub`, the name of the user; None if it is not open."""
        form = urllib.parse.urlencode({"token": token, "use": "true" if is_use else "false"}).encode()
        reply = self.post("/v1/introspection", "application/x-www-form-urlencoded", form)
        return reply if reply["active"] else None

    def redeem(self, approval, token, act):
        """Whether the user of the session has approved exactly this act, which the back end writes itself."""
        body = json.dumps({"approval": approval, "token": token, "context": act}).encode()
        return self.post("/v1/approvals", "application/json", body)["valid"]

    def enrolment_code(self, user):
        """A code with which a user whom the application knows registers a first key."""
        return self.post("/v1/enrolments", "application/json", json.dumps({"user": user}).encode())["code"]
