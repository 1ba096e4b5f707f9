"""A client of the REST API with the standard library only. docs/signing.md describes what it signs."""

import json
import math
import os
import urllib.error
import urllib.request
import uuid
from dataclasses import dataclass
from datetime import datetime, timezone
from hashlib import sha512
from typing import Any, Optional

CURATOR_TYPE = "signal.curator.v1"


class SignalEngineError(Exception):
    """The service refused; `code` is one of docs/http.md."""

    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.status = status
        self.code = code


@dataclass(frozen=True)
class SigningKey:
    """An Ed25519 key of a contributor. Keep the seed secret: whoever has it speaks for the contributor."""

    seed: bytes

    @staticmethod
    def generate() -> "SigningKey":
        return SigningKey(os.urandom(32))

    @property
    def public_key(self) -> str:
        """64 hex digits, to register with."""
        return public_key_of(self.seed).hex()

    def sign(self, text: str) -> str:
        """128 hex digits over the UTF-8 bytes of a text."""
        message = text.encode("utf-8")
        try:
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        except ImportError:
            return pure_python_sign(self.seed, message).hex()
        return Ed25519PrivateKey.from_private_bytes(self.seed).sign(message).hex()


class SignalEngine:
    def __init__(self, base_url: str, token: str, timeout_seconds: float = 30) -> None:
        """`base_url` ends in `/api/v1`."""
        self._base_url = base_url.rstrip("/")
        self._token = token
        self._timeout_seconds = timeout_seconds
        self._contributor_ids: dict[str, str] = {}

    def register(
        self,
        node_id: str,
        name: str,
        role: str,
        metadata: Optional[dict[str, Any]] = None,
        public_key: Optional[str] = None,
    ) -> dict[str, Any]:
        """With a public key, every submission must be signed with it."""
        body: dict[str, Any] = {"node_id": node_id, "name": name, "role": role, "metadata": metadata or {}}
        if public_key is not None:
            body["public_key"] = public_key
        contributor = self._call("POST", "/contributors/register", body)
        self._contributor_ids[node_id] = contributor["id"]
        return contributor

    def contributors(self) -> list[dict[str, Any]]:
        return self._call("GET", "/contributors")

    def submit(
        self,
        node_id: str,
        payload: dict[str, Any],
        *,
        source: Optional[str] = None,
        ts: Optional[datetime] = None,
        dedupe_key: Optional[str] = None,
        sign_with: Optional[SigningKey] = None,
    ) -> dict[str, str]:
        """Submits a curator signal, signed if the contributor has a key. Safe to repeat with the same ts and key."""
        body: dict[str, Any] = {
            "event_type": CURATOR_TYPE,
            "node_id": node_id,
            "payload": payload,
            # As it is stored: that is what is signed.
            "source": (source or "").strip() or node_id,
            "ts": timestamp(ts or datetime.now(timezone.utc)),
        }
        if dedupe_key is not None or sign_with is not None:
            body["dedupe_key"] = dedupe_key or str(uuid.uuid4())
        if sign_with is not None:
            text = submission_text({**body, "contributor_id": self._contributor_id_of(node_id)})
            body["signature"] = sign_with.sign(text)
        return self._call("POST", "/signals/submit", body)

    def _contributor_id_of(self, node_id: str) -> str:
        if node_id not in self._contributor_ids:
            ids = {each["node_id"]: each["id"] for each in self.contributors()}
            if node_id not in ids:
                raise SignalEngineError(404, "contributor.not_found", f"no contributor has node_id {node_id}")
            self._contributor_ids[node_id] = ids[node_id]
        return self._contributor_ids[node_id]

    def _call(self, method: str, path: str, body: Optional[dict[str, Any]] = None) -> Any:
        request = urllib.request.Request(
            self._base_url + path,
            method=method,
            data=None if body is None else json.dumps(body, allow_nan=False).encode("utf-8"),
            headers={"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=self._timeout_seconds) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            # The contributor may have been registered anew, under another id.
            self._contributor_ids.clear()
            try:
                problem = json.load(error)
            except ValueError:
                problem = {}
            raise SignalEngineError(
                error.code, problem.get("code", "unknown"), problem.get("detail", "")
            ) from None


def timestamp(moment: datetime) -> str:
    """The form in which the service stores a time: UTC with milliseconds."""
    utc = moment.astimezone(timezone.utc)
    return f"{utc:%Y-%m-%dT%H:%M:%S}.{utc.microsecond // 1000:03d}Z"


def submission_text(fields: dict[str, Any]) -> str:
    """The text that a contributor signs: members of docs/signing.md, as RFC 8785 writes them."""
    return f"signal-engine/submission/v1\n{canonical_json(fields)}"


def canonical_json(value: Any) -> str:
    """RFC 8785: members sorted by UTF-16 code units, no blanks, numbers as ECMAScript writes them."""
    if isinstance(value, dict):
        members = sorted(value.items(), key=lambda member: member[0].encode("utf-16-be"))
        return "{" + ",".join(f"{canonical_json(name)}:{canonical_json(each)}" for name, each in members) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(canonical_json(each) for each in value) + "]"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _number_text(float(value))
    return json.dumps(value, ensure_ascii=False)


def _number_text(number: float) -> str:
    if not math.isfinite(number):
        raise ValueError("JSON has no such number")
    if number == 0:
        return "0"
    sign = "-" if number < 0 else ""
    # repr has the shortest digits that read back as the same number, as ECMAScript has.
    mantissa, _, exponent = repr(abs(number)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = int(exponent or 0) + len(whole) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    count = len(digits)
    if count <= point <= 21:
        return sign + digits + "0" * (point - count)
    if 0 < point <= 21:
        return sign + digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    power = f"e{'+' if point > 0 else '-'}{abs(point - 1)}"
    return sign + digits[0] + ("." + digits[1:] if count > 1 else "") + power


# Ed25519 (RFC 8032, section 5.1) for signing only, used where the package `cryptography` is missing. It is slow and its
# timing depends on the key: sign on a machine that nobody else measures.

_P = 2**255 - 19
_L = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, _P - 2, _P) % _P
_BASE_Y = 4 * pow(5, _P - 2, _P) % _P


def _base_x() -> int:
    square = (_BASE_Y * _BASE_Y - 1) * pow(_D * _BASE_Y * _BASE_Y + 1, _P - 2, _P) % _P
    root = pow(square, (_P + 3) // 8, _P)
    if (root * root - square) % _P != 0:
        root = root * pow(2, (_P - 1) // 4, _P) % _P
    return _P - root if root % 2 else root


_BASE = (_base_x(), _BASE_Y, 1, _base_x() * _BASE_Y % _P)


def _add(one: tuple, other: tuple) -> tuple:
    a = (one[1] - one[0]) * (other[1] - other[0]) % _P
    b = (one[1] + one[0]) * (other[1] + other[0]) % _P
    c = 2 * one[3] * other[3] * _D % _P
    d = 2 * one[2] * other[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return (e * f % _P, g * h % _P, f * g % _P, e * h % _P)


def _times(scalar: int, point: tuple) -> tuple:
    result = (0, 1, 1, 0)
    while scalar > 0:
        if scalar & 1:
            result = _add(result, point)
        point = _add(point, point)
        scalar >>= 1
    return result


def _encoded(point: tuple) -> bytes:
    inverse = pow(point[2], _P - 2, _P)
    x, y = point[0] * inverse % _P, point[1] * inverse % _P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def _secret_of(seed: bytes) -> tuple:
    digest = sha512(seed).digest()
    scalar = int.from_bytes(digest[:32], "little") & ((1 << 254) - 8) | (1 << 254)
    return scalar, digest[32:]


def public_key_of(seed: bytes) -> bytes:
    return _encoded(_times(_secret_of(seed)[0], _BASE))


def pure_python_sign(seed: bytes, message: bytes) -> bytes:
    scalar, prefix = _secret_of(seed)
    public_key = public_key_of(seed)
    nonce = int.from_bytes(sha512(prefix + message).digest(), "little") % _L
    commitment = _encoded(_times(nonce, _BASE))
    challenge = int.from_bytes(sha512(commitment + public_key + message).digest(), "little") % _L
    return commitment + ((nonce + challenge * scalar) % _L).to_bytes(32, "little")
