# SPDX-License-Identifier: Apache-2.0
"""A server with an administration, and a client that shares no code with the page."""
import http.client
import http.cookies
import json
import socket

from server import Device, Server, text

CONTEXT = "open the administration"


def free_port():
    """A port that nothing uses: the origin is part of the configuration, so the server cannot choose its port."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class AdministrationServer(Server):
    def __init__(self, **settings):
        port = free_port()
        self.origin = f"http://localhost:{port}"
        super().__init__(**({"relying_party_id": "localhost", "port": port, "administration": "on",
                             "origins": self.origin, "passkeys": "allow"} | settings))

    def administrator(self, user="ada"):
        """A registered key of a new administrator, and the token of its session."""
        self.command("administrator", user)
        return self.device(user)

    def device(self, user):
        device = Device(self, user).register()
        status, session = device.sign_in()
        assert status == 201, session
        device.token = session["token"]
        return device

    def browser_code(self, device):
        """A code that opens a browser, by a step-up of the key."""
        status, reply = self.post("/v1/browser-codes", device.proof("step-up", CONTEXT),
                                  {"Authorization": "Bearer " + device.token})
        assert status == 201, reply
        return reply["code"]

    def signed_in(self, user="ada"):
        device = self.administrator(user)
        client = PageClient(self)
        assert client.sign_in(self.browser_code(device)) == 201
        client.device = device
        return client


class PageClient:
    """Sends the requests of the page, with the headers of a browser."""

    def __init__(self, server):
        self.server, self.cookie = server, None

    def headers(self):
        headers = {"Content-Type": "application/json", "X-Latchkey-Administration": "1", "Origin": self.server.origin,
                   "Sec-Fetch-Site": "same-origin"}
        return headers | ({"Cookie": f"__Host-latchkey={self.cookie}"} if self.cookie else {})

    def request(self, name, body=None, changed=None, method="POST"):
        """Status, headers and the bytes of the reply; a header that is changed to None is left out."""
        headers = {key: value for key, value in (self.headers() | (changed or {})).items() if value is not None}
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=30)
        data = body if isinstance(body, bytes) else json.dumps({} if body is None else body).encode()
        connection.request(method, "/admin/api/" + name, data, headers)
        response = connection.getresponse()
        data = response.read()
        connection.close()
        for line in response.headers.get_all("Set-Cookie") or []:
            cookie = http.cookies.SimpleCookie(line)["__Host-latchkey"]
            self.cookie, self.attributes = cookie.value or None, line
        return response.status, response.headers, data

    def call(self, name, body=None, changed=None, method="POST"):
        status, _, data = self.request(name, body, changed, method)
        return status, json.loads(data) if data else None

    def proven(self, name, body):
        """The same with a code that the key of the session has made just now."""
        return self.call(name, body | {"proof": {"code": self.server.browser_code(self.device)}})

    def sign_in(self, code):
        return self.call("sign-in", {"code": code})[0]

    def revoke_own_key(self):
        return self.call("revoke", {"user": self.device.user, "target": "key:" + text(self.device.id)})
