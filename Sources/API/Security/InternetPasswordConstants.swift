// SPDX-License-Identifier: Apache-2.0

public import Foundation

// Names and values of Apple's constants for internet passwords, compared with Tests/Vectors/security.tsv by
// `SecurityConstantTests`.

/// Value of `kSecClass` for internet passwords. Apple: `kSecClassInternetPassword`.
nonisolated(unsafe) public let kSecClassInternetPassword: CFString = "inet"
/// Host name or IP address of the server of an internet password: a string, part of the primary key.
/// Apple: `kSecAttrServer`.
nonisolated(unsafe) public let kSecAttrServer: CFString = "srvr"
/// Security domain (realm) of an internet password: a string, part of the primary key. Apple: `kSecAttrSecurityDomain`.
nonisolated(unsafe) public let kSecAttrSecurityDomain: CFString = "sdmn"
/// Protocol of an internet password: one of the `kSecAttrProtocol...` values, part of the primary key.
/// Apple: `kSecAttrProtocol`.
nonisolated(unsafe) public let kSecAttrProtocol: CFString = "ptcl"
/// Authentication scheme of an internet password: one of the `kSecAttrAuthenticationType...` values, part of the
/// primary key. Apple: `kSecAttrAuthenticationType`.
nonisolated(unsafe) public let kSecAttrAuthenticationType: CFString = "atyp"
/// Port number of an internet password: a number, part of the primary key. Apple: `kSecAttrPort`.
nonisolated(unsafe) public let kSecAttrPort: CFString = "port"
/// Path of an internet password, as in a URL: a string, part of the primary key. Apple: `kSecAttrPath`.
nonisolated(unsafe) public let kSecAttrPath: CFString = "path"

// MARK: - Values of kSecAttrProtocol

/// Value of `kSecAttrProtocol` for AFP over TCP. Apple: `kSecAttrProtocolAFP`.
nonisolated(unsafe) public let kSecAttrProtocolAFP: CFString = "afp "
/// Value of `kSecAttrProtocol` for AFP over AppleTalk. Apple: `kSecAttrProtocolAppleTalk`.
nonisolated(unsafe) public let kSecAttrProtocolAppleTalk: CFString = "atlk"
/// Value of `kSecAttrProtocol` for DAAP (Digital Audio Access Protocol). Apple: `kSecAttrProtocolDAAP`.
nonisolated(unsafe) public let kSecAttrProtocolDAAP: CFString = "daap"
/// Value of `kSecAttrProtocol` for remote Apple events. Apple: `kSecAttrProtocolEPPC`.
nonisolated(unsafe) public let kSecAttrProtocolEPPC: CFString = "eppc"
/// Value of `kSecAttrProtocol` for FTP. Apple: `kSecAttrProtocolFTP`.
nonisolated(unsafe) public let kSecAttrProtocolFTP: CFString = "ftp "
/// Value of `kSecAttrProtocol` for an FTP account (the ACCT command). Apple: `kSecAttrProtocolFTPAccount`.
nonisolated(unsafe) public let kSecAttrProtocolFTPAccount: CFString = "ftpa"
/// Value of `kSecAttrProtocol` for an FTP proxy. Apple: `kSecAttrProtocolFTPProxy`.
nonisolated(unsafe) public let kSecAttrProtocolFTPProxy: CFString = "ftpx"
/// Value of `kSecAttrProtocol` for FTP over TLS. Apple: `kSecAttrProtocolFTPS`.
nonisolated(unsafe) public let kSecAttrProtocolFTPS: CFString = "ftps"
/// Value of `kSecAttrProtocol` for HTTP. Apple: `kSecAttrProtocolHTTP`.
nonisolated(unsafe) public let kSecAttrProtocolHTTP: CFString = "http"
/// Value of `kSecAttrProtocol` for an HTTP proxy. Apple: `kSecAttrProtocolHTTPProxy`.
nonisolated(unsafe) public let kSecAttrProtocolHTTPProxy: CFString = "htpx"
/// Value of `kSecAttrProtocol` for HTTP over TLS. Apple: `kSecAttrProtocolHTTPS`.
nonisolated(unsafe) public let kSecAttrProtocolHTTPS: CFString = "htps"
/// Value of `kSecAttrProtocol` for an HTTPS proxy. Apple: `kSecAttrProtocolHTTPSProxy`.
nonisolated(unsafe) public let kSecAttrProtocolHTTPSProxy: CFString = "htsx"
/// Value of `kSecAttrProtocol` for IMAP. Apple: `kSecAttrProtocolIMAP`.
nonisolated(unsafe) public let kSecAttrProtocolIMAP: CFString = "imap"
/// Value of `kSecAttrProtocol` for IMAP over TLS. Apple: `kSecAttrProtocolIMAPS`.
nonisolated(unsafe) public let kSecAttrProtocolIMAPS: CFString = "imps"
/// Value of `kSecAttrProtocol` for IPP (Internet Printing Protocol). Apple: `kSecAttrProtocolIPP`.
nonisolated(unsafe) public let kSecAttrProtocolIPP: CFString = "ipp "
/// Value of `kSecAttrProtocol` for IRC. Apple: `kSecAttrProtocolIRC`.
nonisolated(unsafe) public let kSecAttrProtocolIRC: CFString = "irc "
/// Value of `kSecAttrProtocol` for IRC over TLS. Apple: `kSecAttrProtocolIRCS`.
nonisolated(unsafe) public let kSecAttrProtocolIRCS: CFString = "ircs"
/// Value of `kSecAttrProtocol` for LDAP. Apple: `kSecAttrProtocolLDAP`.
nonisolated(unsafe) public let kSecAttrProtocolLDAP: CFString = "ldap"
/// Value of `kSecAttrProtocol` for LDAP over TLS. Apple: `kSecAttrProtocolLDAPS`.
nonisolated(unsafe) public let kSecAttrProtocolLDAPS: CFString = "ldps"
/// Value of `kSecAttrProtocol` for NNTP (network news). Apple: `kSecAttrProtocolNNTP`.
nonisolated(unsafe) public let kSecAttrProtocolNNTP: CFString = "nntp"
/// Value of `kSecAttrProtocol` for NNTP over TLS. Apple: `kSecAttrProtocolNNTPS`.
nonisolated(unsafe) public let kSecAttrProtocolNNTPS: CFString = "ntps"
/// Value of `kSecAttrProtocol` for POP3. Apple: `kSecAttrProtocolPOP3`.
nonisolated(unsafe) public let kSecAttrProtocolPOP3: CFString = "pop3"
/// Value of `kSecAttrProtocol` for POP3 over TLS. Apple: `kSecAttrProtocolPOP3S`.
nonisolated(unsafe) public let kSecAttrProtocolPOP3S: CFString = "pops"
/// Value of `kSecAttrProtocol` for RTSP (Real Time Streaming Protocol). Apple: `kSecAttrProtocolRTSP`.
nonisolated(unsafe) public let kSecAttrProtocolRTSP: CFString = "rtsp"
/// Value of `kSecAttrProtocol` for an RTSP proxy. Apple: `kSecAttrProtocolRTSPProxy`.
nonisolated(unsafe) public let kSecAttrProtocolRTSPProxy: CFString = "rtsx"
/// Value of `kSecAttrProtocol` for SMB (file sharing). Apple: `kSecAttrProtocolSMB`.
nonisolated(unsafe) public let kSecAttrProtocolSMB: CFString = "smb "
/// Value of `kSecAttrProtocol` for SMTP. Apple: `kSecAttrProtocolSMTP`.
nonisolated(unsafe) public let kSecAttrProtocolSMTP: CFString = "smtp"
/// Value of `kSecAttrProtocol` for a SOCKS proxy. Apple: `kSecAttrProtocolSOCKS`.
nonisolated(unsafe) public let kSecAttrProtocolSOCKS: CFString = "sox "
/// Value of `kSecAttrProtocol` for SSH. Apple: `kSecAttrProtocolSSH`.
nonisolated(unsafe) public let kSecAttrProtocolSSH: CFString = "ssh "
/// Value of `kSecAttrProtocol` for Telnet. Apple: `kSecAttrProtocolTelnet`.
nonisolated(unsafe) public let kSecAttrProtocolTelnet: CFString = "teln"
/// Value of `kSecAttrProtocol` for Telnet over TLS. Apple: `kSecAttrProtocolTelnetS`.
nonisolated(unsafe) public let kSecAttrProtocolTelnetS: CFString = "tels"

// MARK: - Values of kSecAttrAuthenticationType

/// Value of `kSecAttrAuthenticationType` for distributed password authentication.
/// Apple: `kSecAttrAuthenticationTypeDPA`.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeDPA: CFString = "dpaa"
/// Value of `kSecAttrAuthenticationType` for the default scheme of the protocol.
/// Apple: `kSecAttrAuthenticationTypeDefault`.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeDefault: CFString = "dflt"
/// Value of `kSecAttrAuthenticationType` for an HTML form. Apple: `kSecAttrAuthenticationTypeHTMLForm`.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeHTMLForm: CFString = "form"
/// Value of `kSecAttrAuthenticationType` for HTTP basic authentication. Apple: `kSecAttrAuthenticationTypeHTTPBasic`.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeHTTPBasic: CFString = "http"
/// Value of `kSecAttrAuthenticationType` for HTTP digest access authentication.
/// Apple: `kSecAttrAuthenticationTypeHTTPDigest`.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeHTTPDigest: CFString = "httd"
/// Value of `kSecAttrAuthenticationType` for Microsoft Network authentication. Apple: `kSecAttrAuthenticationTypeMSN`.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeMSN: CFString = "msna"
/// Value of `kSecAttrAuthenticationType` for Windows NT LAN Manager authentication.
/// Apple: `kSecAttrAuthenticationTypeNTLM`.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeNTLM: CFString = "ntlm"
/// Value of `kSecAttrAuthenticationType` for remote password authentication. Apple: `kSecAttrAuthenticationTypeRPA`.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeRPA: CFString = "rpaa"
