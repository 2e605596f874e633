// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import Testing

/// Makes a key from its bytes.
func key(_ bytes: [UInt8]) throws -> SymmetricKey { try #require(SymmetricKey(SecretBytes(bytes))) }

/// Makes a key of equal bytes.
func key(filledWith byte: UInt8) throws -> SymmetricKey { try key([UInt8](repeating: byte, count: 32)) }
