// SPDX-License-Identifier: Apache-2.0

import Security

/// Constants that Apple deprecated, read through a protocol, because using them directly would be a warning.
protocol DeprecatedConstants: Sendable {
    var kSecAttrAccessibleAlways: CFString { get }
    var kSecAttrAccessibleAlwaysThisDeviceOnly: CFString { get }
    var kSecUseAuthenticationUIAllow: CFString { get }
    var kSecUseAuthenticationUIFail: CFString { get }
    var kSecUseItemList: CFString { get }
    var kSecUseNoAuthenticationUI: CFString { get }
    var kSecUseOperationPrompt: CFString { get }
}

private struct Constants: DeprecatedConstants {
    @available(*, deprecated) var kSecAttrAccessibleAlways: CFString { Security.kSecAttrAccessibleAlways }
    @available(*, deprecated) var kSecAttrAccessibleAlwaysThisDeviceOnly: CFString {
        Security.kSecAttrAccessibleAlwaysThisDeviceOnly
    }
    @available(*, deprecated) var kSecUseAuthenticationUIAllow: CFString { Security.kSecUseAuthenticationUIAllow }
    @available(*, deprecated) var kSecUseAuthenticationUIFail: CFString { Security.kSecUseAuthenticationUIFail }
    @available(*, deprecated) var kSecUseItemList: CFString { Security.kSecUseItemList }
    @available(*, deprecated) var kSecUseNoAuthenticationUI: CFString { Security.kSecUseNoAuthenticationUI }
    @available(*, deprecated) var kSecUseOperationPrompt: CFString { Security.kSecUseOperationPrompt }
}

let deprecated: any DeprecatedConstants = Constants()
