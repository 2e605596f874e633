// SPDX-License-Identifier: Apache-2.0

public import Foundation

// Names and values of Apple's constants for internet passwords, compared with Tests/Vectors/security.tsv by
// `SecurityConstantTests`.

/// Class of internet passwords. Apple: `kSecClassInternetPassword`.
nonisolated(unsafe) public let kSecClassInternetPassword: CFString = "inet"
/// Name or address of the server: a string. Apple: `kSecAttrServer`.
nonisolated(unsafe) public let kSecAttrServer: CFString = "srvr"
/// Security domain of the server: a string. Apple: `kSecAttrSecurityDomain`.
nonisolated(unsafe) public let kSecAttrSecurityDomain: CFString = "sdmn"
/// Protocol: one of the `kSecAttrProtocol...` values. Apple: `kSecAttrProtocol`.
nonisolated(unsafe) public let kSecAttrProtocol: CFString = "ptcl"
/// How the server authenticates: one of the `kSecAttrAuthenticationType...` values. Apple: `kSecAttrAuthenticationType`.
nonisolated(unsafe) public let kSecAttrAuthenticationType: CFString = "atyp"
/// Port: a number. Apple: `kSecAttrPort`.
nonisolated(unsafe) public let kSecAttrPort: CFString = "port"
/// Path, as in a URL: a string. Apple: `kSecAttrPath`.
nonisolated(unsafe) public let kSecAttrPath: CFString = "path"

// MARK: - Values of kSecAttrProtocol

/// Protocol: AFP over TCP. Apple: `kSecAttrProtocolAFP`.
nonisolated(unsafe) public let kSecAttrProtocolAFP: CFString = "afp "
/// Protocol: AFP over AppleTalk. Apple: `kSecAttrProtocolAppleTalk`.
nonisolated(unsafe) public let kSecAttrProtocolAppleTalk: CFString = "atlk"
/// Protocol: DAAP. Apple: `kSecAttrProtocolDAAP`.
nonisolated(unsafe) public let kSecAttrProtocolDAAP: CFString = "daap"
/// Protocol: remote Apple events. Apple: `kSecAttrProtocolEPPC`.
nonisolated(unsafe) public let kSecAttrProtocolEPPC: CFString = "eppc"
/// Protocol: FTP. Apple: `kSecAttrProtocolFTP`.
nonisolated(unsafe) public let kSecAttrProtocolFTP: CFString = "ftp "
/// Protocol: an account of FTP. Apple: `kSecAttrProtocolFTPAccount`.
nonisolated(unsafe) public let kSecAttrProtocolFTPAccount: CFString = "ftpa"
/// Protocol: an FTP proxy. Apple: `kSecAttrProtocolFTPProxy`.
nonisolated(unsafe) public let kSecAttrProtocolFTPProxy: CFString = "ftpx"
/// Protocol: FTP over TLS. Apple: `kSecAttrProtocolFTPS`.
nonisolated(unsafe) public let kSecAttrProtocolFTPS: CFString = "ftps"
/// Protocol: HTTP. Apple: `kSecAttrProtocolHTTP`.
nonisolated(unsafe) public let kSecAttrProtocolHTTP: CFString = "http"
/// Protocol: an HTTP proxy. Apple: `kSecAttrProtocolHTTPProxy`.
nonisolated(unsafe) public let kSecAttrProtocolHTTPProxy: CFString = "htpx"
/// Protocol: HTTP over TLS. Apple: `kSecAttrProtocolHTTPS`.
nonisolated(unsafe) public let kSecAttrProtocolHTTPS: CFString = "htps"
/// Protocol: an HTTPS proxy. Apple: `kSecAttrProtocolHTTPSProxy`.
nonisolated(unsafe) public let kSecAttrProtocolHTTPSProxy: CFString = "htsx"
/// Protocol: IMAP. Apple: `kSecAttrProtocolIMAP`.
nonisolated(unsafe) public let kSecAttrProtocolIMAP: CFString = "imap"
/// Protocol: IMAP over TLS. Apple: `kSecAttrProtocolIMAPS`.
nonisolated(unsafe) public let kSecAttrProtocolIMAPS: CFString = "imps"
/// Protocol: IPP. Apple: `kSecAttrProtocolIPP`.
nonisolated(unsafe) public let kSecAttrProtocolIPP: CFString = "ipp "
/// Protocol: IRC. Apple: `kSecAttrProtocolIRC`.
nonisolated(unsafe) public let kSecAttrProtocolIRC: CFString = "irc "
/// Protocol: IRC over TLS. Apple: `kSecAttrProtocolIRCS`.
nonisolated(unsafe) public let kSecAttrProtocolIRCS: CFString = "ircs"
/// Protocol: LDAP. Apple: `kSecAttrProtocolLDAP`.
nonisolated(unsafe) public let kSecAttrProtocolLDAP: CFString = "ldap"
/// Protocol: LDAP over TLS. Apple: `kSecAttrProtocolLDAPS`.
nonisolated(unsafe) public let kSecAttrProtocolLDAPS: CFString = "ldps"
/// Protocol: NNTP. Apple: `kSecAttrProtocolNNTP`.
nonisolated(unsafe) public let kSecAttrProtocolNNTP: CFString = "nntp"
/// Protocol: NNTP over TLS. Apple: `kSecAttrProtocolNNTPS`.
nonisolated(unsafe) public let kSecAttrProtocolNNTPS: CFString = "ntps"
/// Protocol: POP3. Apple: `kSecAttrProtocolPOP3`.
nonisolated(unsafe) public let kSecAttrProtocolPOP3: CFString = "pop3"
/// Protocol: POP3 over TLS. Apple: `kSecAttrProtocolPOP3S`.
nonisolated(unsafe) public let kSecAttrProtocolPOP3S: CFString = "pops"
/// Protocol: RTSP. Apple: `kSecAttrProtocolRTSP`.
nonisolated(unsafe) public let kSecAttrProtocolRTSP: CFString = "rtsp"
/// Protocol: an RTSP proxy. Apple: `kSecAttrProtocolRTSPProxy`.
nonisolated(unsafe) public let kSecAttrProtocolRTSPProxy: CFString = "rtsx"
/// Protocol: SMB. Apple: `kSecAttrProtocolSMB`.
nonisolated(unsafe) public let kSecAttrProtocolSMB: CFString = "smb "
/// Protocol: SMTP. Apple: `kSecAttrProtocolSMTP`.
nonisolated(unsafe) public let kSecAttrProtocolSMTP: CFString = "smtp"
/// Protocol: SOCKS. Apple: `kSecAttrProtocolSOCKS`.
nonisolated(unsafe) public let kSecAttrProtocolSOCKS: CFString = "sox "
/// Protocol: SSH. Apple: `kSecAttrProtocolSSH`.
nonisolated(unsafe) public let kSecAttrProtocolSSH: CFString = "ssh "
/// Protocol: Telnet. Apple: `kSecAttrProtocolTelnet`.
nonisolated(unsafe) public let kSecAttrProtocolTelnet: CFString = "teln"
/// Protocol: Telnet over TLS. Apple: `kSecAttrProtocolTelnetS`.
nonisolated(unsafe) public let kSecAttrProtocolTelnetS: CFString = "tels"

// MARK: - Values of kSecAttrAuthenticationType

/// Authentication: distributed password. Apple: `kSecAttrAuthenticationTypeDPA`.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeDPA: CFString = "dpaa"
/// Authentication: the default. Apple: `kSecAttrAuthenticationTypeDefault`.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeDefault: CFString = "dflt"
/// Authentication: a form in HTML. Apple: `kSecAttrAuthenticationTypeHTMLForm`.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeHTMLForm: CFString = "form"
/// Authentication: HTTP basic. Apple: `kSecAttrAuthenticationTypeHTTPBasic`.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeHTTPBasic: CFString = "http"
/// Authentication: HTTP digest. Apple: `kSecAttrAuthenticationTypeHTTPDigest`.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeHTTPDigest: CFString = "httd"
/// Authentication: Microsoft Network. Apple: `kSecAttrAuthenticationTypeMSN`.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeMSN: CFString = "msna"
/// Authentication: Windows NT LAN Manager. Apple: `kSecAttrAuthenticationTypeNTLM`.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeNTLM: CFString = "ntlm"
/// Authentication: remote password. Apple: `kSecAttrAuthenticationTypeRPA`.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeRPA: CFString = "rpaa"
