// SPDX-License-Identifier: Apache-2.0

package import Foundation
import LatchkeyCertificates
package import LatchkeyModel

/// The `kSecMatch...` keys of a query that apply to certificates and identities; `kSecMatchLimit` is not one of them.
///
/// Does no input or output: the caller passes the current time and a function that finds issuers. An identity matches
/// when its certificate does.
package struct CertificateMatch {
    private enum Place { case anywhere, start, end, whole }
    private enum Moment {
        case now
        case date(Date)
    }

    /// Maximum number of certificates examined in the issuer search of one certificate.
    private static let issuersPerCertificate = 64

    private var issuers: Set<[UInt8]>?
    private var subjects: [(place: Place, text: String)] = []
    private var options: String.CompareOptions = []
    private var emailAddress: String?
    private var moment: Moment?
    private var certificates: Set<SecCertificate> = []
    private var references: Set<Data> = []
    private var hasItemList = false

    /// Whether the query has no match key that restricts the result.
    package var isEmpty: Bool {
        issuers == nil && subjects.isEmpty && emailAddress == nil && moment == nil && !hasItemList
    }

    /// Reads the match keys of a query; ignores `kSecMatchLimit` and all keys that are not match keys.
    ///
    /// Throws `invalidParameter` for a value of the wrong type and for an unknown match key, and `unimplemented` for
    /// the keys that need trust evaluation, policies, a list of keychains or host names.
    package init(_ dictionary: NSDictionary) throws(Failure) {
        for (key, value) in zip(dictionary.allKeys, dictionary.allValues) {
            guard let name = key as? String, name.hasPrefix("m_"), name != kSecMatchLimit as String else { continue }
            try read(name, value)
        }
    }

    private mutating func read(_ name: String, _ value: Any) throws(Failure) {
        switch name as NSString {
        case kSecMatchIssuers:
            issuers = try Self.names(value)
        case kSecMatchSubjectContains:
            subjects.append((.anywhere, try Self.text(name, value)))
        case kSecMatchSubjectStartsWith:
            subjects.append((.start, try Self.text(name, value)))
        case kSecMatchSubjectEndsWith:
            subjects.append((.end, try Self.text(name, value)))
        case kSecMatchSubjectWholeString:
            subjects.append((.whole, try Self.text(name, value)))
        case kSecMatchCaseInsensitive:
            if try booleanValue(value, of: name) { options.insert(.caseInsensitive) }
        case kSecMatchDiacriticInsensitive:
            if try booleanValue(value, of: name) { options.insert(.diacriticInsensitive) }
        case kSecMatchWidthInsensitive:
            if try booleanValue(value, of: name) { options.insert(.widthInsensitive) }
        case kSecMatchEmailAddressIfPresent:
            emailAddress = try Self.text(name, value)
        case kSecMatchValidOnDate:
            moment = try Self.moment(value)
        case kSecMatchItemList:
            try readItems(value)
        case kSecMatchTrustedOnly:
            // Fails closed: without trust evaluation the result would contain untrusted certificates.
            if try booleanValue(value, of: name) {
                throw Self.unavailable("kSecMatchTrustedOnly needs trust evaluation")
            }
        case "m_Policy": throw Self.unavailable("kSecMatchPolicy needs trust evaluation")
        case "m_SearchList": throw Self.unavailable("kSecMatchSearchList needs several keychains")
        case "m_HostOrSubdomainOfHost": throw Self.unavailable("kSecMatchHostOrSubdomainOfHost needs SecPolicy")
        default: throw ParsedQuery.refusal("There is no key \(name).")
        }
    }

    // MARK: - Values of the match keys

    private static func unavailable(_ what: String) -> Failure {
        Failure(.unimplemented, "This version of Latchkey does not support this match key: \(what).")
    }

    private static func text(_ name: String, _ value: Any) throws(Failure) -> String {
        guard let text = value as? String else { throw ParsedQuery.refusal("\(name) takes a string.") }
        return text
    }

    private static func moment(_ value: Any) throws(Failure) -> Moment {
        if value is NSNull { return .now }
        guard let date = value as? Date else {
            throw ParsedQuery.refusal("kSecMatchValidOnDate takes a date, or NSNull for now.")
        }
        return .date(date)
    }

    /// Skips entries that are not DER names: they match no certificate, and a list from a TLS server may contain such
    /// entries.
    private static func names(_ value: Any) throws(Failure) -> Set<[UInt8]> {
        let refusal = ParsedQuery.refusal("kSecMatchIssuers takes an array of Data.")
        guard let list = value as? NSArray else { throw refusal }
        var names: Set<[UInt8]> = []
        for element in list {
            guard let data = element as? Data else { throw refusal }
            if let name = DistinguishedName.normalized(Array(data)) { names.insert(name) }
        }
        return names
    }

    private mutating func readItems(_ value: Any) throws(Failure) {
        guard let list = value as? NSArray else { throw ParsedQuery.refusal("kSecMatchItemList takes an array.") }
        hasItemList = true
        for element in list {
            switch element {
            case let certificate as SecCertificate: certificates.insert(certificate)
            case let identity as SecIdentity: certificates.insert(identity.certificate)
            // A key is a valid reference but matches no certificate.
            case is SecKey: break
            case let reference as Data: references.insert(reference)
            default:
                throw ParsedQuery.refusal("kSecMatchItemList takes references and persistent references.")
            }
        }
    }

    // MARK: - Checks

    /// Whether a certificate passes every check.
    ///
    /// - Parameters:
    ///   - certificate: the certificate, or the certificate of an identity.
    ///   - persistentReference: its persistent reference, compared with those in `kSecMatchItemList`.
    ///   - now: the time used when `kSecMatchValidOnDate` is `NSNull`.
    ///   - issuers: returns the known certificates with a subject; the argument is a normalised name in the form of
    ///     `kSecAttrSubject`. Called only when the query has `kSecMatchIssuers` and the certificate's own issuer is not
    ///     in that list.
    package func accepts(
        _ certificate: SecCertificate, persistentReference: Data? = nil, now: Date = Date(),
        issuers known: (Data) -> [SecCertificate] = { _ in [] }
    ) -> Bool {
        isListed(certificate, persistentReference) && hasSubject(certificate.certificate)
            && hasEmailAddress(certificate.certificate) && isValid(certificate.certificate, now)
            && hasIssuer(certificate.certificate, known)
    }

    private func isListed(_ certificate: SecCertificate, _ reference: Data?) -> Bool {
        guard hasItemList else { return true }
        return certificates.contains(certificate) || reference.map(references.contains) ?? false
    }

    private func hasSubject(_ certificate: Certificate) -> Bool {
        subjects.allSatisfy { sought in
            certificate.subjectTexts.contains { Self.find(sought.text, sought.place, in: $0, options) }
        }
    }

    private static func find(
        _ sought: String, _ place: Place, in text: String, _ options: String.CompareOptions
    ) -> Bool {
        switch place {
        case .whole: return text.compare(sought, options: options) == .orderedSame
        // Foundation's range(of:) returns nil for an empty string.
        case _ where sought.isEmpty: return true
        case .anywhere: return text.range(of: sought, options: options) != nil
        case .start: return text.range(of: sought, options: options.union(.anchored)) != nil
        case .end: return text.range(of: sought, options: options.union([.anchored, .backwards])) != nil
        }
    }

    /// Ignores case: RFC 5321 (section 2.4) allows case-sensitive local parts, but mail systems ignore their case.
    private func hasEmailAddress(_ certificate: Certificate) -> Bool {
        guard let emailAddress, !certificate.emailAddresses.isEmpty else { return true }
        return certificate.emailAddresses.contains {
            $0.compare(emailAddress, options: .caseInsensitive) == .orderedSame
        }
    }

    private func isValid(_ certificate: Certificate, _ now: Date) -> Bool {
        let date: Date
        switch moment {
        case nil: return true
        case .now: date = now
        case .date(let given): date = given
        }
        let micros = date.timeIntervalSince1970 * 1_000_000
        return Double(certificate.notBefore) <= micros && micros <= Double(certificate.notAfter)
    }

    private func hasIssuer(_ certificate: Certificate, _ known: (Data) -> [SecCertificate]) -> Bool {
        guard let issuers else { return true }
        var waiting = [certificate]
        var seen: Set<Certificate> = [certificate]
        while let next = waiting.popLast() {
            if issuers.contains(next.normalizedIssuer) { return true }
            guard next.normalizedIssuer != next.normalizedSubject else { continue }
            for issuer in known(Data(next.normalizedIssuerContent)).map(\.certificate)
            where next.namesAsIssuer(issuer) && seen.count < Self.issuersPerCertificate {
                if seen.insert(issuer).inserted { waiting.append(issuer) }
            }
        }
        return false
    }
}
