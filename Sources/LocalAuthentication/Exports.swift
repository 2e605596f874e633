// SPDX-License-Identifier: Apache-2.0

// Security with it, whose names (`NSErrorPointer`, `OSStatus`, `Sec...`) Apple's Foundation brings along.
@_exported public import Foundation
@_exported public import Security
