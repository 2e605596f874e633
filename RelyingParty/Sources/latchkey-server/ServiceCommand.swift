// SPDX-License-Identifier: Apache-2.0

internal import RelyingParty
internal import RelyingPartyCrypto
internal import RelyingPartyJSON

/// The commands `service NAME [--enroll | --remove]` and `services`: the back ends that may ask about sessions.
enum ServiceCommand {
    static func run(_ command: Invocation) throws {
        let name = command.words[0]
        guard !command.has(.removing) else {
            guard !command.has(.enrolling) else { throw command.misuse("--enroll and --remove exclude each other") }
            guard try command.service().removeService(name) else { throw Usage("there is no service of this name") }
            command.write("the credential of the service is refused from now on", [("removed", .bool(true))])
            return
        }
        let rights: ServiceRights = command.has(.enrolling) ? [.check, .enroll] : .check
        let credential: String
        do {
            credential = StrictBase64.url.encode(try command.service().addService(name, rights))
        } catch RelyingPartyError.malformed {
            throw command.misuse("the name is not 1 to 32 characters a-z, 0-9 and -, which is not the first")
        }
        command.write(
            """
            \(credential)
            The service sends its name and this credential with HTTP Basic. It is shown once, and an earlier one is refused.
            """, [("service", .string(name)), ("credential", .string(credential))])
    }

    static func list(_ command: Invocation) throws {
        let services = try command.service().services()
        let rows = services.map { service in
            JSONValue.object([
                ("service", .string(service.name)), ("created", .integer(service.created)),
                ("enrols", .bool(service.rights.contains(.enroll))),
            ])
        }
        let lines = services.map { $0.name + ($0.rights.contains(.enroll) ? ", makes enrolment codes" : "") }
        command.write(
            services.isEmpty ? "no service is registered" : lines.joined(separator: "\n"), [("services", .array(rows))])
    }
}
