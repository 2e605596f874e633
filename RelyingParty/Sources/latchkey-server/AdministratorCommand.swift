// SPDX-License-Identifier: Apache-2.0

internal import RelyingParty
internal import RelyingPartyAPI
internal import RelyingPartyJSON

/// The command `administrator USER [--remove]`: who may use the page of the administration.
enum AdministratorCommand {
    static func run(_ command: Invocation) throws {
        let user = command.words[0]
        let service = try command.service()
        guard !command.has(.removing) else {
            guard try service.removeAdministrator(user) else { throw Usage("the user is no administrator") }
            command.write("the user is no administrator any more", [("removed", .bool(true))])
            return
        }
        let code = try service.addAdministrator(user)
        // A service or an earlier code may have registered keys for this name before it had the role.
        let keys = try service.keys(of: user).filter { $0.revoked == nil }
        let known =
            keys.isEmpty
            ? ""
            : "\nThe role holds for these keys as well. Revoke the ones that are not expected:\n"
                + keys.flatMap(AccountReport.lines).joined(separator: "\n")
        let configuration = command.configuration
        let page =
            configuration.servesAdministration
            ? service.origins.sorted().map { $0 + "/admin" }.joined(separator: " or ")
            : "the page, after the configuration has administration = on,"
        command.write(
            """
            \(code)
            Open \(page) within 10 minutes, choose "Use an enrolment code", and enter the name of the user and this code.
            It is shown once and registers one key. A user who has a key already does not need it.\(known)
            """, [("code", .string(code)), ("keys", .array(keys.map(KeyReport.json)))])
    }
}
