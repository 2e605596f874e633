// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import Testing

/// A key of the project from its bytes.
func key(_ bytes: [UInt8]) throws -> SymmetricKey { try #require(SymmetricKey(SecretBytes(bytes))) }

/// A key whose bytes are all the same.
func key(filledWith byte: UInt8) throws -> SymmetricKey { try key([UInt8](repeating: byte, count: 32)) }
