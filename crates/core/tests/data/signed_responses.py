"""Writes signed_responses.json: 402 responses signed by the PyPI package http-message-signatures.

    pip install http-message-signatures requests base58
    python3 signed_responses.py > signed_responses.json
"""

import base64
import datetime
import hashlib
import json

import base58
import requests
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from http_message_signatures import HTTPMessageSigner, HTTPSignatureKeyResolver, algorithms

URL = "https://api.example.com/paid?city=Bern"
BODY = b'{"error":"Payment required"}'


def seed(label):
    return hashlib.sha256(label.encode()).digest()


KEYS = {
    "ed25519": (ed25519.Ed25519PrivateKey.from_private_bytes(seed("ed25519")), algorithms.ED25519),
    "p256": (ec.derive_private_key(int.from_bytes(seed("p256")), ec.SECP256R1()), algorithms.ECDSA_P256_SHA256),
}


def raw(key):
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
    public = key.public_key()
    if isinstance(key, ed25519.Ed25519PrivateKey):
        return b"\xed\x01" + public.public_bytes(Encoding.Raw, PublicFormat.Raw)
    return b"\x80\x24" + public.public_bytes(Encoding.X962, PublicFormat.CompressedPoint)


class Keys(HTTPSignatureKeyResolver):
    def resolve_private_key(self, key_id):
        return KEYS[key_id][0]

    def resolve_public_key(self, key_id):
        return KEYS[key_id][0].public_key()


def signed(name, key, components, **params):
    response = requests.Response()
    response.status_code = 402
    response.request = requests.Request("GET", URL).prepare()
    response.headers["Payment-Required"] = base64.b64encode(b'{"x402Version":2}').decode()
    response.headers["Content-Digest"] = "sha-256=:" + base64.b64encode(hashlib.sha256(BODY).digest()).decode() + ":"
    created = datetime.datetime.fromtimestamp(1_800_000_000, datetime.timezone.utc)
    signer = HTTPMessageSigner(signature_algorithm=KEYS[key][1], key_resolver=Keys())
    signer.sign(response, key_id=key, created=created, label="resp", covered_component_ids=components, use_existing_digest=True, **params)
    return {"name": name, "url": URL, "did": "did:key:z" + base58.b58encode(raw(KEYS[key][0])).decode(),
            "headers": list(response.headers.items())}


WHOLE = ["@status", "payment-required", '"@authority";req', '"@path";req']
print(json.dumps({"body": BODY.decode(), "responses": [
    signed("x402", "ed25519", WHOLE, tag="x402-response", include_alg=False),
    signed("p256", "p256", WHOLE, tag="x402-response", nonce="n\"\\1", expires=datetime.datetime.fromtimestamp(1_800_000_300, datetime.timezone.utc)),
    signed("everything", "ed25519", ["@status", "payment-required", "content-digest"] + [f'"@{name}";req' for name in ["method", "authority", "scheme", "target-uri", "request-target", "path", "query"]]),
    signed("forms", "ed25519", ["@status", '"payment-required";bs', '"content-digest";key="sha-256"', '"content-digest";sf']),
]}, indent=1))
