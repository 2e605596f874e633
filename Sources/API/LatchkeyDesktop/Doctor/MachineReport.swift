// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem

/// What a person can send to the maintainers about a machine: which system, readers and chip it has, and what the doctor found.
///
/// It has no name of a user or host, no serial number and no item; PAM modules are named, without their folders. Texts of
/// files and programs are shortened to the characters that a version needs, so that nothing else of them is copied. It is in
/// English for those who read it.
package struct MachineReport: Sendable {
    /// A fact, and its values in order; none if it is not known.
    package struct Line: Equatable, Sendable {
        package let name: String
        package let values: [String]

        package init(_ name: String, _ values: [String?]) {
            (self.name, self.values) = (name, values.compactMap(\.self))
        }
    }

    package let lines: [Line]
    /// Seconds in which a program must answer.
    fileprivate static let answerSeconds: Int64 = 5

    /// Examines the machine. Changes nothing and starts no daemon; programs that do not answer are ended.
    ///
    /// - Parameters:
    ///   - rows: what the doctor found.
    ///   - readers: the readers that `latchkey-fingerprint` lists; nil if it is not installed or does not answer.
    ///   - chip: what is known of the TPM, in lines.
    package init(
        _ places: MachinePlaces = MachinePlaces(), rows: [DoctorRow], readers: [FingerprintReader]?, chip: [String],
        _ session: LoginFacts?
    ) {
        let kernel = KernelFacts()
        lines =
            [
                Line("latchkey", [productVersion]),
                Line(
                    "system",
                    [places.system, kernel.architecture, KernelFacts.library]),
                Line("kernel", [plain(kernel.release), kernel.hasPeerProcess ? "SO_PEERPIDFD" : nil]),
                Line("surroundings", places.surroundings),
                Line("reader", readers.map { $0.isEmpty ? ["none"] : $0.map(\.reported) } ?? []),
                Line("reader on USB", places.usbReaders ?? []),
                Line("packages", places.packages ?? []),
                Line("TPM", chip),
            ]
            + places.stacks
            + [
                Line("session", [session.map { plain($0.type) }, session?.isRemote == true ? "remote" : nil]),
                Line("desktop", [Environment.value("XDG_CURRENT_DESKTOP").map { plain($0) }]),
            ]
            + rows.map { Line("doctor, \($0.name)", [$0.state.rawValue]) }
    }

    /// Examines this machine with what the doctor asks.
    ///
    /// - Parameter fingerprints: the path of `latchkey-fingerprint`; nil if it is not installed.
    package init(fingerprints: String?, rows: [DoctorRow], chip: [String]) {
        let places = MachinePlaces()
        self.init(
            places, rows: rows, readers: fingerprints.flatMap { FingerFacts.readers($0, seconds: Self.answerSeconds) },
            chip: chip, LoginFacts(places, seconds: Self.answerSeconds))
    }

    /// A line for each value.
    package var text: String {
        lines.flatMap { line in
            line.values.isEmpty ? ["\(line.name): not known"] : line.values.map { "\(line.name): \($0)" }
        }.map { $0 + "\n" }.joined()
    }
}

extension FingerprintReader {
    fileprivate var reported: String { "\(plain(name)), \(isSwiped ? "swipe" : "press")" }
}

/// The text with the characters of names and versions of products only, at most 80.
private func plain(_ text: some StringProtocol) -> String {
    String(
        String.UnicodeScalarView(
            text.unicodeScalars.prefix(80).map { scalar in
                scalar.properties.isAlphabetic && scalar.isASCII || ("0"..."9").contains(scalar)
                    || " .,:;+-_()/=".unicodeScalars.contains(scalar) ? scalar : "?"
            }))
}

extension KernelFacts {
    /// Name and version of the C library, such as `glibc 2.41`; nil if it does not say.
    fileprivate static var library: String? {
        var name = [CChar](repeating: 0, count: 64)
        guard confstr(CInt(_CS_GNU_LIBC_VERSION), &name, name.count) > 0 else { return nil }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

extension MachinePlaces {
    /// The lines of a file of the system; none if it cannot be read.
    private func lines(_ path: String) -> [Substring] {
        // A report says "not known" then.
        guard let bytes = try? Files.read(root + path, limit: 1 << 20) else { return [] }
        return String(decoding: bytes.copyBytes(), as: UTF8.self).split(separator: "\n")
    }

    /// The name of the system (os-release(5)).
    fileprivate var system: String? {
        for path in ["/etc/os-release", "/usr/lib/os-release"] {
            if let line = lines(path).first(where: { $0.hasPrefix("PRETTY_NAME=") }) {
                return plain(line.dropFirst("PRETTY_NAME=".count).filter { $0 != "\"" })
            }
        }
        return nil
    }

    /// What is around the processes: a service manager, a container, Windows.
    fileprivate var surroundings: [String?] {
        [
            Files.exists(serviceManager) ? "systemd" : "no systemd",
            Files.exists(root + "/run/.containerenv") || Files.exists(root + "/.dockerenv")
                || Files.exists(root + "/run/systemd/container") ? "container" : nil,
            lines("/proc/sys/kernel/osrelease").first?.lowercased().contains("microsoft") == true ? "WSL" : nil,
        ]
    }

    /// The fingerprint readers on USB that libfprint knows, as vendor and product, and which of them it has no driver for;
    /// nil without its list, or without USB.
    fileprivate var usbReaders: [String]? {
        let files = ["libfprint-2", "fingerprint-reader"].map { "/lib/udev/hwdb.d/60-autosuspend-\($0).hwdb" }
        var note: [String: String] = [:]
        for file in files + files.map({ "/usr" + $0 }) {
            var hasDriver = true
            for line in lines(file) {
                if line.hasPrefix("#"), line.contains("unsupported") { hasDriver = false }
                // usb:v04F3p0903*
                guard line.hasPrefix("usb:v"), line.count >= 14 else { continue }
                let device = "\(line.dropFirst(5).prefix(4)):\(line.dropFirst(10).prefix(4))".lowercased()
                note[device] = hasDriver ? "" : ", no driver"
            }
        }
        let folder = "/sys/bus/usb/devices"
        guard !note.isEmpty,
            let names = try? Descriptor.open(root + folder, O_RDONLY | O_DIRECTORY).names(limit: 4096)
        else { return nil }
        let present = names.compactMap { name -> String? in
            guard let vendor = lines("\(folder)/\(name)/idVendor").first,
                let product = lines("\(folder)/\(name)/idProduct").first
            else { return nil }
            return plain("\(vendor):\(product)".lowercased())
        }
        let found = Set(present).sorted().compactMap { device in note[device].map { device + $0 } }
        return found.isEmpty ? ["none"] : found
    }

    /// The versions of fprintd and its parts; nil without a package manager that is known here.
    fileprivate var packages: [String]? {
        let questions = [
            ("/usr/bin/dpkg-query", ["-W", "-f", "${Package} ${Version}\n"]), ("/usr/bin/rpm", ["-q"]),
            ("/usr/bin/pacman", ["-Q"]),
        ].filter { Files.exists(root + $0.0) }
        guard !questions.isEmpty else { return nil }
        let found = questions.flatMap { program, arguments in
            ["fprintd", "libfprint-2-2", "libfprint", "libpam-fprintd", "tpm2-abrmd"].compactMap { name in
                ProgramOutput.lines(root + program, arguments + [name], seconds: MachineReport.answerSeconds)?
                    .first.map { plain($0) }
            }
        }
        return found.isEmpty ? ["none of fprintd installed"] : found
    }

    /// The shape of the PAM stacks by which people log in: control and module of each line of `auth`, without arguments.
    fileprivate var stacks: [MachineReport.Line] {
        [
            "common-auth", "system-auth", "login", "sudo", "gdm-password", "gdm-fingerprint", "sddm", "lightdm",
            "latchkey",
        ]
        .compactMap { service in
            let entries = lines("/etc/pam.d/\(service)").compactMap { line -> String? in
                let words = line.split { $0 == " " || $0 == "\t" }
                if words.first == "@include", words.count > 1 { return "include \(plain(words[1]))" }
                guard words.first == "auth" || words.first == "-auth" else { return nil }
                return Self.entry(words.dropFirst())
            }
            return entries.isEmpty ? nil : MachineReport.Line("PAM, \(service)", entries)
        }
    }

    /// `[success=1 default=ignore] pam_unix.so nullok` without the arguments, and without the folder of the module.
    private static func entry(_ words: ArraySlice<Substring>) -> String? {
        guard let first = words.first else { return nil }
        var control = [first]
        var rest = words.dropFirst()
        while control.first?.hasPrefix("[") == true, control.last?.hasSuffix("]") == false, let word = rest.popFirst() {
            control.append(word)
        }
        guard let module = rest.first else { return nil }
        let text = control.joined(separator: " ").filter { $0 != "[" && $0 != "]" }
        return plain("\(text) \(Files.name(of: String(module)))")
    }
}
