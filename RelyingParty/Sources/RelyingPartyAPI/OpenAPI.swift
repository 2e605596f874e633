// SPDX-License-Identifier: Apache-2.0
// Long: one document, which is served as it is.

/// The description of the interface in OpenAPI 3.1, which is served as it is.
package enum OpenAPI {
    package static let text = #"""
        {
         "openapi": "3.1.0",
         "info": {
          "title": "latchkey-server",
          "version": "1",
          "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
          "description": "docs/relying-party.md describes the protocol."
         },
         "paths": {
          "/v1/challenges": {
           "post": {
            "operationId": "issueChallenge",
            "summary": "Issues a challenge; stores nothing.",
            "requestBody": {
             "required": true,
             "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ChallengeRequest"}}}
            },
            "responses": {
             "200": {
              "description": "The challenge.",
              "content": {
               "application/json": {
                "schema": {
                 "type": "object",
                 "required": ["challenge"],
                 "properties": {"challenge": {"$ref": "#/components/schemas/Challenge"}}
                }
               }
              }
             },
             "400": {"$ref": "#/components/responses/Problem"},
             "411": {"$ref": "#/components/responses/Problem"},
             "413": {"$ref": "#/components/responses/Problem"},
             "415": {"$ref": "#/components/responses/Problem"},
             "429": {"$ref": "#/components/responses/Problem"},
             "503": {"$ref": "#/components/responses/Problem"}
            }
           }
          },
          "/v1/attestations": {
           "post": {
            "operationId": "beginAttestation",
            "summary": "Begins the enrolment of a device; stores nothing.",
            "requestBody": {
             "required": true,
             "content": {"application/json": {"schema": {"$ref": "#/components/schemas/AttestationRequest"}}}
            },
            "responses": {
             "200": {
              "description": "The challenge for the TPM, and the enrolment, which the device sends back.",
              "content": {
               "application/json": {
                "schema": {
                 "type": "object",
                 "required": ["challenge", "enrolment"],
                 "properties": {
                  "challenge": {"$ref": "#/components/schemas/Bytes"},
                  "enrolment": {"$ref": "#/components/schemas/Bytes"}
                 }
                }
               }
              }
             },
             "400": {"$ref": "#/components/responses/Problem"},
             "411": {"$ref": "#/components/responses/Problem"},
             "413": {"$ref": "#/components/responses/Problem"},
             "415": {"$ref": "#/components/responses/Problem"},
             "429": {"$ref": "#/components/responses/Problem"},
             "503": {"$ref": "#/components/responses/Problem"},
             "401": {"$ref": "#/components/responses/Problem"}
            }
           }
          },
          "/v1/keys": {
           "post": {
            "operationId": "registerKey",
            "summary": "Registers a key whose owner proves to have it.",
            "security": [{}, {"bearer": []}],
            "requestBody": {
             "required": true,
             "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Registration"}}}
            },
            "responses": {
             "201": {
              "description": "The key is registered.",
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Registered"}}}
             },
             "401": {"$ref": "#/components/responses/Problem"},
             "400": {"$ref": "#/components/responses/Problem"},
             "411": {"$ref": "#/components/responses/Problem"},
             "413": {"$ref": "#/components/responses/Problem"},
             "415": {"$ref": "#/components/responses/Problem"},
             "429": {"$ref": "#/components/responses/Problem"},
             "503": {"$ref": "#/components/responses/Problem"}
            }
           }
          },
          "/v1/sessions": {
           "post": {
            "operationId": "signIn",
            "summary": "Opens a session.",
            "requestBody": {
             "required": true,
             "content": {"application/json": {"schema": {"$ref": "#/components/schemas/SignIn"}}}
            },
            "responses": {
             "201": {
              "description": "The session.",
              "content": {
               "application/json": {
                "schema": {
                 "type": "object",
                 "required": ["token", "expires"],
                 "properties": {"token": {"$ref": "#/components/schemas/Bytes32"}, "expires": {"type": "integer"}}
                }
               }
              }
             },
             "401": {"$ref": "#/components/responses/Problem"},
             "400": {"$ref": "#/components/responses/Problem"},
             "411": {"$ref": "#/components/responses/Problem"},
             "413": {"$ref": "#/components/responses/Problem"},
             "415": {"$ref": "#/components/responses/Problem"},
             "429": {"$ref": "#/components/responses/Problem"},
             "503": {"$ref": "#/components/responses/Problem"}
            }
           }
          },
          "/v1/session": {
           "get": {
            "operationId": "showSession",
            "summary": "Describes the session of the token.",
            "security": [{"bearer": []}],
            "responses": {
             "200": {
              "description": "The session.",
              "content": {
               "application/json": {
                "schema": {
                 "type": "object",
                 "required": ["user", "key", "expires", "proven", "claimed"],
                 "properties": {
                  "user": {"type": "string"},
                  "key": {"$ref": "#/components/schemas/Bytes32"},
                  "expires": {"type": "integer"},
                  "proven": {"$ref": "#/components/schemas/Proven"},
                  "claimed": {"$ref": "#/components/schemas/Claimed"}
                 }
                }
               }
              }
             },
             "401": {"$ref": "#/components/responses/Problem"},
             "429": {"$ref": "#/components/responses/Problem"},
             "503": {"$ref": "#/components/responses/Problem"}
            }
           },
           "delete": {
            "operationId": "endSession",
            "summary": "Ends the session of the token.",
            "security": [{"bearer": []}],
            "responses": {
             "204": {"description": "The session has ended."},
             "401": {"$ref": "#/components/responses/Problem"},
             "429": {"$ref": "#/components/responses/Problem"},
             "503": {"$ref": "#/components/responses/Problem"}
            }
           }
          },
          "/v1/passkeys/challenges": {
           "post": {
            "operationId": "issuePasskeyChallenge",
            "summary": "Issues a challenge for a passkey; stores nothing.",
            "requestBody": {
             "required": true,
             "content": {"application/json": {"schema": {"$ref": "#/components/schemas/PasskeyChallengeRequest"}}}
            },
            "responses": {
             "200": {
              "description": "The challenge.",
              "content": {
               "application/json": {
                "schema": {
                 "type": "object",
                 "required": ["challenge", "relyingParty", "timeout"],
                 "properties": {
                  "challenge": {"$ref": "#/components/schemas/Challenge"},
                  "relyingParty": {"type": "string", "description": "rp.id or rpId for the browser"},
                  "timeout": {"type": "integer", "description": "milliseconds until the challenge expires"},
                  "userHandle": {"$ref": "#/components/schemas/Bytes32", "description": "user.id, for a registration"}
                 }
                }
               }
              }
             },
             "401": {"$ref": "#/components/responses/Problem"},
             "400": {"$ref": "#/components/responses/Problem"},
             "411": {"$ref": "#/components/responses/Problem"},
             "413": {"$ref": "#/components/responses/Problem"},
             "415": {"$ref": "#/components/responses/Problem"},
             "429": {"$ref": "#/components/responses/Problem"},
             "503": {"$ref": "#/components/responses/Problem"}
            }
           }
          },
          "/v1/passkeys": {
           "post": {
            "operationId": "registerPasskey",
            "summary": "Registers a passkey that a browser has made.",
            "security": [{}, {"bearer": []}],
            "requestBody": {
             "required": true,
             "content": {"application/json": {"schema": {"$ref": "#/components/schemas/PasskeyRegistration"}}}
            },
            "responses": {
             "201": {
              "description": "The passkey is registered.",
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Registered"}}}
             },
             "401": {"$ref": "#/components/responses/Problem"},
             "400": {"$ref": "#/components/responses/Problem"},
             "411": {"$ref": "#/components/responses/Problem"},
             "413": {"$ref": "#/components/responses/Problem"},
             "415": {"$ref": "#/components/responses/Problem"},
             "429": {"$ref": "#/components/responses/Problem"},
             "503": {"$ref": "#/components/responses/Problem"}
            }
           }
          },
          "/v1/passkeys/sessions": {
           "post": {
            "operationId": "signInWithPasskey",
            "summary": "Opens a session with a passkey.",
            "requestBody": {
             "required": true,
             "content": {"application/json": {"schema": {"$ref": "#/components/schemas/PasskeySignIn"}}}
            },
            "responses": {
             "201": {
              "description": "The session.",
              "content": {
               "application/json": {
                "schema": {
                 "type": "object",
                 "required": ["token", "expires"],
                 "properties": {"token": {"$ref": "#/components/schemas/Bytes32"}, "expires": {"type": "integer"}}
                }
               }
              }
             },
             "401": {"$ref": "#/components/responses/Problem"},
             "400": {"$ref": "#/components/responses/Problem"},
             "411": {"$ref": "#/components/responses/Problem"},
             "413": {"$ref": "#/components/responses/Problem"},
             "415": {"$ref": "#/components/responses/Problem"},
             "429": {"$ref": "#/components/responses/Problem"},
             "503": {"$ref": "#/components/responses/Problem"}
            }
           }
          },
          "/v1/rotations": {
           "post": {
            "operationId": "rotateKey",
            "summary": "Replaces a key by another one; both sign.",
            "requestBody": {
             "required": true,
             "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Rotation"}}}
            },
            "responses": {
             "201": {
              "description": "The new key is registered, and the old one revoked.",
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Registered"}}}
             },
             "401": {"$ref": "#/components/responses/Problem"},
             "400": {"$ref": "#/components/responses/Problem"},
             "411": {"$ref": "#/components/responses/Problem"},
             "413": {"$ref": "#/components/responses/Problem"},
             "415": {"$ref": "#/components/responses/Problem"},
             "429": {"$ref": "#/components/responses/Problem"},
             "503": {"$ref": "#/components/responses/Problem"}
            }
           }
          },
          "/v1/revocations": {
           "post": {
            "operationId": "revoke",
            "summary": "Revokes keys and ends their sessions.",
            "requestBody": {
             "required": true,
             "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Revocation"}}}
            },
            "responses": {
             "200": {
              "description": "The keys are revoked.",
              "content": {
               "application/json": {
                "schema": {
                 "type": "object",
                 "required": ["revokedKeys"],
                 "properties": {"revokedKeys": {"type": "integer"}}
                }
               }
              }
             },
             "401": {"$ref": "#/components/responses/Problem"},
             "400": {"$ref": "#/components/responses/Problem"},
             "411": {"$ref": "#/components/responses/Problem"},
             "413": {"$ref": "#/components/responses/Problem"},
             "415": {"$ref": "#/components/responses/Problem"},
             "429": {"$ref": "#/components/responses/Problem"},
             "503": {"$ref": "#/components/responses/Problem"}
            }
           }
          },
          "/v1/openapi.json": {
           "get": {
            "operationId": "describe",
            "summary": "This document.",
            "responses": {"200": {"description": "This document.", "content": {"application/json": {}}}}
           }
          },
          "/health": {
           "get": {
            "operationId": "health",
            "summary": "The process answers.",
            "responses": {
             "200": {
              "description": "It answers.",
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Status"}}}
             }
            }
           }
          },
          "/ready": {
           "get": {
            "operationId": "ready",
            "summary": "The storage answers.",
            "responses": {
             "200": {
              "description": "It answers.",
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Status"}}}
             },
             "503": {"$ref": "#/components/responses/Problem"}
            }
           }
          },
          "/v1/browser-codes": {
           "post": {
            "operationId": "openBrowser",
            "summary": "Makes a code that opens the administration in a browser, approved by a step-up.",
            "requestBody": {
             "required": true,
             "content": {"application/json": {"schema": {"$ref": "#/components/schemas/BrowserCodeRequest"}}}
            },
            "responses": {
             "201": {
              "description": "The code, which is valid once and for a minute.",
              "content": {
               "application/json": {
                "schema": {
                 "type": "object",
                 "required": ["code", "expires"],
                 "properties": {"code": {"$ref": "#/components/schemas/Bytes32"}, "expires": {"type": "integer"}}
                }
               }
              }
             },
             "401": {"$ref": "#/components/responses/Problem"},
             "403": {"$ref": "#/components/responses/Problem"},
             "400": {"$ref": "#/components/responses/Problem"},
             "411": {"$ref": "#/components/responses/Problem"},
             "413": {"$ref": "#/components/responses/Problem"},
             "415": {"$ref": "#/components/responses/Problem"},
             "429": {"$ref": "#/components/responses/Problem"},
             "503": {"$ref": "#/components/responses/Problem"}
            },
            "security": [{"bearer": []}]
           }
          },
          "/v1/step-ups": {
           "post": {
            "operationId": "stepUp",
            "summary": "Approves one act within a session, signed by the key of the session.",
            "requestBody": {
             "required": true,
             "content": {"application/json": {"schema": {"$ref": "#/components/schemas/StepUp"}}}
            },
            "responses": {
             "200": {
              "description": "The act is approved.",
              "content": {
               "application/json": {
                "schema": {
                 "type": "object",
                 "required": ["user", "key", "context"],
                 "properties": {
                  "user": {"type": "string"},
                  "key": {"$ref": "#/components/schemas/Bytes32"},
                  "context": {"type": "string"}
                 }
                }
               }
              }
             },
             "401": {"$ref": "#/components/responses/Problem"},
             "400": {"$ref": "#/components/responses/Problem"},
             "411": {"$ref": "#/components/responses/Problem"},
             "413": {"$ref": "#/components/responses/Problem"},
             "415": {"$ref": "#/components/responses/Problem"},
             "429": {"$ref": "#/components/responses/Problem"},
             "503": {"$ref": "#/components/responses/Problem"}
            },
            "security": [{"bearer": []}]
           }
          }
         },
         "components": {
          "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
          "responses": {
           "Problem": {
            "description": "A problem, the same for every cause of its status.",
            "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
           }
          },
          "schemas": {
           "Problem": {
            "type": "object",
            "required": ["type", "title", "status"],
            "properties": {"type": {"type": "string"}, "title": {"type": "string"}, "status": {"type": "integer"}}
           },
           "ChallengeRequest": {
            "type": "object",
            "additionalProperties": false,
            "required": ["user", "key", "purpose"],
            "properties": {
             "user": {"$ref": "#/components/schemas/User"},
             "key": {"$ref": "#/components/schemas/Bytes32"},
             "purpose": {"enum": ["login", "register", "revoke", "rotate", "step-up"]},
             "context": {"type": "string", "maxLength": 512}
            }
           },
           "Proof": {
            "type": "object",
            "additionalProperties": false,
            "required": ["user", "key", "challenge", "signature"],
            "properties": {
             "user": {"$ref": "#/components/schemas/User"},
             "key": {"$ref": "#/components/schemas/Bytes32"},
             "challenge": {"$ref": "#/components/schemas/Challenge"},
             "signature": {"$ref": "#/components/schemas/Bytes"}
            }
           },
           "SignIn": {
            "type": "object",
            "additionalProperties": false,
            "required": ["user", "key", "challenge", "signature"],
            "properties": {
             "user": {"$ref": "#/components/schemas/User"},
             "key": {"$ref": "#/components/schemas/Bytes32"},
             "challenge": {"$ref": "#/components/schemas/Challenge"},
             "signature": {"$ref": "#/components/schemas/Bytes"},
             "counter": {"$ref": "#/components/schemas/Counter"}
            }
           },
           "Registration": {
            "type": "object",
            "additionalProperties": false,
            "required": ["user", "key", "challenge", "signature", "publicKey", "form", "tier"],
            "properties": {
             "user": {"$ref": "#/components/schemas/User"},
             "key": {"$ref": "#/components/schemas/Bytes32"},
             "challenge": {"$ref": "#/components/schemas/Challenge"},
             "signature": {"$ref": "#/components/schemas/Bytes"},
             "publicKey": {"$ref": "#/components/schemas/PublicKey"},
             "form": {"enum": ["raw", "bound"]},
             "tier": {"$ref": "#/components/schemas/Tier"},
             "device": {"type": "string", "maxLength": 64},
             "enrolmentCode": {"type": "string"},
             "sessionSignature": {
              "type": "string",
              "pattern": "^([A-Za-z0-9_-]{4})*([A-Za-z0-9_-][AQgw]|[A-Za-z0-9_-]{2}[AEIMQUYcgkosw048])?$",
              "description": "without an enrolment code: the signature of the key of the session, of the bound message"
             },
             "attestation": {"$ref": "#/components/schemas/Attestation"}
            }
           },
           "Revocation": {
            "type": "object",
            "additionalProperties": false,
            "dependentRequired": {"clientDataJSON": ["authenticatorData"], "authenticatorData": ["clientDataJSON"]},
            "required": ["user", "key", "challenge", "signature", "target"],
            "properties": {
             "user": {"$ref": "#/components/schemas/User"},
             "key": {"$ref": "#/components/schemas/Bytes32"},
             "challenge": {"$ref": "#/components/schemas/Challenge"},
             "signature": {"$ref": "#/components/schemas/Bytes"},
             "clientDataJSON": {"$ref": "#/components/schemas/Bytes"},
             "authenticatorData": {"$ref": "#/components/schemas/Bytes"},
             "target": {
              "type": "string",
              "pattern": "^(user|device:.*|key:[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048])$",
              "description": "user, device:NAME or key:IDENTIFIER; also the context of the challenge"
             }
            }
           },
           "Rotation": {
            "type": "object",
            "additionalProperties": false,
            "required": ["user", "key", "challenge", "signature", "publicKey", "tier", "newSignature"],
            "properties": {
             "user": {"$ref": "#/components/schemas/User"},
             "key": {"$ref": "#/components/schemas/Bytes32"},
             "challenge": {"$ref": "#/components/schemas/Challenge"},
             "signature": {"$ref": "#/components/schemas/Bytes"},
             "publicKey": {"$ref": "#/components/schemas/PublicKey"},
             "tier": {"$ref": "#/components/schemas/Tier"},
             "newSignature": {
              "type": "string",
              "pattern": "^([A-Za-z0-9_-]{4})*([A-Za-z0-9_-][AQgw]|[A-Za-z0-9_-]{2}[AEIMQUYcgkosw048])?$",
              "description": "the signature of the new key, of the message that the old one signs"
             },
             "attestation": {"$ref": "#/components/schemas/Attestation"}
            }
           },
           "BrowserCodeRequest": {
            "type": "object",
            "additionalProperties": false,
            "dependentRequired": {"clientDataJSON": ["authenticatorData"], "authenticatorData": ["clientDataJSON"]},
            "required": ["user", "key", "challenge", "signature"],
            "properties": {
             "user": {"$ref": "#/components/schemas/User"},
             "key": {"$ref": "#/components/schemas/Bytes32"},
             "challenge": {"$ref": "#/components/schemas/Challenge"},
             "signature": {"$ref": "#/components/schemas/Bytes"},
             "clientDataJSON": {"$ref": "#/components/schemas/Bytes"},
             "authenticatorData": {"$ref": "#/components/schemas/Bytes"},
             "counter": {"$ref": "#/components/schemas/Counter"}
            }
           },
           "StepUp": {
            "type": "object",
            "additionalProperties": false,
            "dependentRequired": {"clientDataJSON": ["authenticatorData"], "authenticatorData": ["clientDataJSON"]},
            "required": ["user", "key", "challenge", "signature", "context"],
            "properties": {
             "user": {"$ref": "#/components/schemas/User"},
             "key": {"$ref": "#/components/schemas/Bytes32"},
             "challenge": {"$ref": "#/components/schemas/Challenge"},
             "signature": {"$ref": "#/components/schemas/Bytes"},
             "clientDataJSON": {"$ref": "#/components/schemas/Bytes"},
             "authenticatorData": {"$ref": "#/components/schemas/Bytes"},
             "context": {"type": "string", "minLength": 1, "maxLength": 512},
             "counter": {"$ref": "#/components/schemas/Counter"}
            }
           },
           "PasskeyChallengeRequest": {
            "oneOf": [
             {
              "type": "object",
              "additionalProperties": false,
              "required": ["purpose"],
              "properties": {"purpose": {"const": "login"}}
             },
             {
              "type": "object",
              "additionalProperties": false,
              "required": ["purpose", "user"],
              "properties": {"purpose": {"const": "register"}, "user": {"$ref": "#/components/schemas/User"}}
             }
            ]
           },
           "PasskeyRegistration": {
            "type": "object",
            "additionalProperties": false,
            "required": ["user", "clientDataJSON", "attestationObject"],
            "properties": {
             "user": {"$ref": "#/components/schemas/User"},
             "device": {"type": "string", "maxLength": 64},
             "clientDataJSON": {"$ref": "#/components/schemas/Bytes"},
             "attestationObject": {"$ref": "#/components/schemas/Bytes"},
             "enrolmentCode": {"type": "string"},
             "sessionProof": {"$ref": "#/components/schemas/SessionProof"}
            }
           },
           "SessionProof": {
            "type": "object",
            "additionalProperties": false,
            "required": ["signature"],
            "dependentRequired": {"clientDataJSON": ["authenticatorData"], "authenticatorData": ["clientDataJSON"]},
            "description": "without an enrolment code: the signature of the bound key of the session, or its passkey's",
            "properties": {
             "signature": {"$ref": "#/components/schemas/Bytes"},
             "clientDataJSON": {"$ref": "#/components/schemas/Bytes"},
             "authenticatorData": {"$ref": "#/components/schemas/Bytes"}
            }
           },
           "PasskeySignIn": {
            "type": "object",
            "additionalProperties": false,
            "required": ["credential", "clientDataJSON", "authenticatorData", "signature"],
            "properties": {
             "credential": {"$ref": "#/components/schemas/Bytes"},
             "clientDataJSON": {"$ref": "#/components/schemas/Bytes"},
             "authenticatorData": {"$ref": "#/components/schemas/Bytes"},
             "signature": {"$ref": "#/components/schemas/Bytes"},
             "userHandle": {"$ref": "#/components/schemas/Bytes"}
            }
           },
           "Attestation": {
            "type": "object",
            "additionalProperties": false,
            "required": ["enrolment", "answer", "proof"],
            "description": "the proof that the key is in a TPM; docs/device-proof.md",
            "properties": {
             "enrolment": {"$ref": "#/components/schemas/Bytes"},
             "answer": {"$ref": "#/components/schemas/Bytes"},
             "proof": {"$ref": "#/components/schemas/Bytes"}
            }
           },
           "AttestationRequest": {
            "type": "object",
            "additionalProperties": false,
            "required": ["user", "request"],
            "properties": {
             "user": {"$ref": "#/components/schemas/User"},
             "request": {
              "type": "string",
              "pattern": "^([A-Za-z0-9_-]{4})*([A-Za-z0-9_-][AQgw]|[A-Za-z0-9_-]{2}[AEIMQUYcgkosw048])?$",
              "description": "the first message of the enrolment of a device"
             }
            }
           },
           "Proven": {
            "type": "object",
            "required": ["device", "model"],
            "description": "what is proven about the key",
            "properties": {"device": {"enum": ["none", "tpm", "virtual-tpm"]}, "model": {"type": "string"}}
           },
           "Claimed": {
            "type": "object",
            "required": ["tier", "userVerification"],
            "description": "what is claimed about the key",
            "properties": {"tier": {"$ref": "#/components/schemas/Tier"}, "userVerification": {"type": "string"}}
           },
           "Bytes32": {
            "type": "string",
            "pattern": "^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$",
            "minLength": 43,
            "maxLength": 43
           },
           "Bytes": {
            "type": "string",
            "pattern": "^([A-Za-z0-9_-]{4})*([A-Za-z0-9_-][AQgw]|[A-Za-z0-9_-]{2}[AEIMQUYcgkosw048])?$"
           },
           "User": {"type": "string", "minLength": 1, "maxLength": 128},
           "Challenge": {"type": "string", "pattern": "^[A-Za-z0-9_-]{193}[AQgw]$", "minLength": 194, "maxLength": 194},
           "Tier": {"enum": ["simulated", "user", "file", "tpm"]},
           "Counter": {
            "type": "integer",
            "minimum": 0,
            "maximum": 9007199254740991,
            "description": "how often the key was used; once given, it must increase with each proof"
           },
           "PublicKey": {
            "type": "object",
            "required": ["format", "value"],
            "properties": {"format": {"enum": ["pem", "der", "x963", "jwk"]}, "value": {"type": ["string", "object"]}}
           },
           "Registered": {
            "type": "object",
            "required": ["key", "proven", "claimed"],
            "properties": {
             "key": {"$ref": "#/components/schemas/Bytes32"},
             "proven": {"$ref": "#/components/schemas/Proven"},
             "claimed": {"$ref": "#/components/schemas/Claimed"}
            }
           },
           "Status": {"type": "object", "required": ["status"], "properties": {"status": {"type": "string"}}}
          }
         }
        }
        """#
}
