// SPDX-License-Identifier: Apache-2.0

import CLatchkeyLinux
import Glibc
import LatchkeyModel

/// An absolute path, opened component by component without following a symbolic link.
///
/// Every folder on the way stays open while the next component is opened, so that the statuses belong to the folders
/// that were passed, whatever is renamed meanwhile.
package struct PathWalk: Sendable {
    /// Maximum components of a path.
    private static let componentLimit = 64

    /// A folder of the path, or the file at its end.
    package struct Component: Equatable, Sendable {
        package var status: FileStatus
        /// The mount that it was reached by; nil when the mount table does not have it.
        package var mount: MountTable.Mount?

        package init(status: FileStatus, mount: MountTable.Mount?) { (self.status, self.mount) = (status, mount) }
    }

    /// `/`, each folder below it, and the file itself; ends with the first component that is not allowed.
    package let components: [Component]
    /// The last component, opened with O_PATH: it can be the base of other calls, but it cannot be read.
    package let file: Descriptor
    private let path: String
    private let calls: SystemCalls

    /// Walks to `path`, which must be absolute and without `.`, `..` and empty components.
    ///
    /// - Parameter isAllowed: decides about each component before the next one is looked up in it, because a look-up in
    ///   a file system of another user can block. The walk ends with a component that is not allowed.
    /// - Throws: `SystemError` with EINVAL for another path, and with ENOTDIR at a symbolic link that is not the last
    ///   component.
    package init(
        _ path: String, _ mounts: MountTable, _ calls: SystemCalls = .kernel, isAllowed: (Component) -> Bool
    ) throws(SystemError) {
        let parts = path.parts(at: "/", omittingEmpty: false).dropFirst()
        guard path.begins(with: "/"), path == "/" || !parts.contains(where: { $0.isEmpty || $0 == "." || $0 == ".." }),
            parts.count <= Self.componentLimit
        else { throw SystemError("openat", code: EINVAL) }
        func component(_ file: Descriptor, _ name: String) throws(SystemError) -> Component {
            let status = try calls.status(of: file, name)
            return Component(status: status, mount: mounts[status.mount])
        }
        var file = try calls.open("/", latchkey_path_flag() | O_DIRECTORY)
        var last = try component(file, "/")
        var components = [last]
        for part in parts where !part.isEmpty && isAllowed(last) {
            // Opens a symbolic link itself; its type is `other`, and nothing can be looked up in it.
            file = try calls.open(String(part), below: file, latchkey_path_flag() | O_NOFOLLOW)
            last = try component(file, String(part))
            components.append(last)
        }
        self.path = path
        self.calls = calls
        self.file = file
        self.components = components
    }

    /// Opens the file for reading.
    ///
    /// Opening can block in a file system of another user, so the caller has to check all components first.
    /// - Throws: `SystemError` with ESTALE when the path now leads to another file.
    package func open() throws(SystemError) -> Descriptor {
        let opened = try calls.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
        guard let last = components.last, try calls.status(of: opened, path).file == last.status.file else {
            throw SystemError("open", code: ESTALE)
        }
        return opened
    }

    /// Whether the file begins as an ELF file; opens it like `open`.
    package func isELF() throws(SystemError) -> Bool {
        let file = try open()
        let start = UnsafeMutableRawBufferPointer.allocate(byteCount: 4, alignment: 1)
        defer { start.deallocate() }
        let count = try calls.read(file, path, into: start)
        return count == 4 && start.elementsEqual([0x7f, 0x45, 0x4c, 0x46])
    }
}
