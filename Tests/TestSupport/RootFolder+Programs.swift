// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeySystem
import Testing

extension RootFolder {
    /// Copies a built program, and the libraries of the toolchain that it loads, so that every user can execute it.
    ///
    /// The checkout and the toolchain can be in a home folder that only its owner can enter. Another user cannot load a
    /// program's libraries from there, nor can the program start a second one that is beside it. A copy finds its
    /// libraries beside itself, because SwiftPM links programs with the run path `$ORIGIN`.
    ///
    /// - Returns: the path of the copy, which has the name of the program.
    @discardableResult
    package func copyBuilt(_ program: String) throws -> String {
        let listed = String(decoding: try OtherProgram().run("ldd", program), as: UTF8.self)
        for line in listed.split(separator: "\n") {
            // `libswiftCore.so => /home/ada/my swift/lib/libswiftCore.so (0x00007f...)`
            guard let arrow = line.firstRange(of: " => "), let address = line.ranges(of: " (0x").last,
                arrow.upperBound <= address.lowerBound
            else { continue }
            let library = String(line[arrow.upperBound..<address.lowerBound])
            // Those of the system are readable for everybody.
            let isOfTheSystem = ["/lib", "/usr/"].contains(where: library.hasPrefix)
            let name = Files.name(of: library)
            guard library.hasPrefix("/"), !isOfTheSystem, !Files.exists(path + "/" + name) else { continue }
            _ = try copy(of: library, name)
        }
        return try copy(of: program, Files.name(of: program))
    }
}
