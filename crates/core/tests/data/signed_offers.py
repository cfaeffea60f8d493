"""Writes signed_offers.json: offers signed by implementations that are not ours.

    pip install eth-account jwcrypto base58
    python3 signed_offers.py > signed_offers.json

EIP-712 by eth-account, JWS by jwcrypto. Keys are SHA-256 of a label, so everything but the ECDSA
nonces of jwcrypto repeats; the file in the repository is what the tests read.
"""

import hashlib
import json

import base58
from eth_account import Account
from eth_account.messages import _hash_eip191_message, encode_typed_data
from jwcrypto import jwk, jws
from jwcrypto.common import base64url_decode, base64url_encode

DOMAIN = {"name": "x402 offer", "version": "1", "chainId": 1}
OFFER = [
    ("version", "uint256"), ("resourceUrl", "string"), ("scheme", "string"), ("network", "string"),
    ("asset", "string"), ("payTo", "string"), ("amount", "string"), ("validUntil", "uint256"),
]
TYPES = {
    "EIP712Domain": [{"name": "name", "type": "string"}, {"name": "version", "type": "string"}, {"name": "chainId", "type": "uint256"}],
    "Offer": [{"name": name, "type": kind} for name, kind in OFFER],
}


def seed(label):
    return hashlib.sha256(label.encode()).digest()


def payload(account, **changes):
    base = {
        "version": 1, "resourceUrl": "https://api.example.com/paid", "scheme": "exact", "network": "eip155:8453",
        "asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "payTo": account.address, "amount": "10000",
        "validUntil": 1900000000,
    }
    return {name: value for name, value in {**base, **changes}.items() if value is not None}


def eip712(label, **changes):
    account = Account.from_key(seed(label))
    said = payload(account, **changes)
    signable = encode_typed_data(full_message={
        "types": TYPES, "primaryType": "Offer", "domain": DOMAIN, "message": {"validUntil": 0, **said},
    })
    signed = account.sign_message(signable)
    return {
        "name": label, "address": account.address.lower(), "digest": _hash_eip191_message(signable).hex().removeprefix("0x"),
        "artifact": {"format": "eip712", "acceptIndex": 0, "payload": said, "signature": "0x" + signed.signature.hex().removeprefix("0x")},
    }


def did_key(key, prefix):
    public = json.loads(key.export_public())
    x = base64url_decode(public["x"])
    if "y" in public:
        x = bytes([2 + base64url_decode(public["y"])[-1] % 2]) + x
    return "did:key:z" + base58.b58encode(prefix + x).decode()


def jws_offer(alg, key, kid, **extra):
    account = Account.from_key(seed("payee"))
    text = json.dumps(payload(account), sort_keys=True, separators=(",", ":"))
    token = jws.JWS(text)
    token.allowed_algs = ["EdDSA", "ES256", "ES256K"]
    token.add_signature(key, alg, json.dumps({"alg": alg, "kid": kid, **extra}))
    return {"name": f"{alg} {kid.split(':')[1]}{' with jwk' if extra else ''}", "kid": kid,
            "artifact": {"format": "jws", "acceptIndex": 0, "signature": token.serialize(compact=True)}}


def keys():
    """Key pairs of the three curves, from labels."""
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519
    ed = jwk.JWK.from_pyca(ed25519.Ed25519PrivateKey.from_private_bytes(seed("ed25519")))
    p256 = jwk.JWK.from_pyca(ec.derive_private_key(int.from_bytes(seed("p256")), ec.SECP256R1()))
    k256 = jwk.JWK.from_pyca(ec.derive_private_key(int.from_bytes(seed("secp256k1")), ec.SECP256K1()))
    return [("EdDSA", ed, b"\xed\x01"), ("ES256", p256, b"\x80\x24"), ("ES256K", k256, b"\xe7\x01")]


typed = [
    eip712("payee"),
    eip712("no end", validUntil=None),
    eip712("other recipient", payTo="0x209693Bc6afc0C5328bA36FaF03C514EF312287C"),
    eip712("long and not ascii", resourceUrl="https://api.example.com/w%C3%A4tter/" + "x" * 300 + "?ü=天気"),
    eip712("solana terms", network="solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", payTo="2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4", amount="1"),
]
tokens = []
for alg, key, prefix in keys():
    name = did_key(key, prefix)
    public = json.loads(key.export_public())
    tokens.append(jws_offer(alg, key, name + "#" + name.removeprefix("did:key:")))
    tokens.append(jws_offer(alg, key, "did:jwk:" + base64url_encode(json.dumps(public, separators=(",", ":"))) + "#0"))
    tokens.append(jws_offer(alg, key, "did:web:api.example.com#key-1"))
    tokens.append(jws_offer(alg, key, "did:web:api.example.com#key-1", jwk=public))
print(json.dumps({"eip712": typed, "jws": tokens}, indent=1, ensure_ascii=False))
