// SPDX-License-Identifier: Apache-2.0

/// The description of the interface in OpenAPI 3.1, which is served as it is. The file becomes a part of the program.
package enum OpenAPI {
    package static let text = String(decoding: PackageResources.OpenAPI_json, as: UTF8.self)
}
