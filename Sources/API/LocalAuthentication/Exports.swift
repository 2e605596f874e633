// SPDX-License-Identifier: Apache-2.0

// Apple's module re-exports Foundation and Security, which define `NSErrorPointer`, `OSStatus` and `Sec...`.
@_exported public import Foundation
@_exported public import Security
