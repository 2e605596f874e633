// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import SimulatedDriver

/// The socket on which tests operate the scripted sensor. A connection carries one command as text: `touch`, `miss`,
/// `fail`, `replace` (another finger is enrolled) or `unplug`; the answer is `ok` or an error.
enum SensorSocket {
    static func serve(_ path: String, _ world: SimulatedWorld) throws(Failure) {
        let listener: Descriptor
        do throws(SystemError) {
            listener = try Sockets.listen(path)
        } catch {
            throw Failure(error, "\(path) cannot be served")
        }
        Processes.detachThread {
            while (try? listener.wait(for: POLLIN, until: nil)) == true {
                guard let connection = try? Sockets.accept(listener) else { continue }
                answer(connection, world)
            }
        }
    }

    private static func answer(_ connection: Descriptor, _ world: SimulatedWorld) {
        var buffer = [UInt8](repeating: 0, count: 64)
        guard (try? connection.wait(for: POLLIN, until: Uptime.deadline(seconds: 5))) == true else { return }
        let count = read(connection.number, &buffer, buffer.count)
        let words = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self).split(whereSeparator: \.isWhitespace)
        var reply = "ok\n"
        do throws(Failure) {
            switch words.first {
            case "touch": _ = try world.apply(.touch(matching: true))
            case "miss": _ = try world.apply(.touch(matching: false))
            case "fail": world.perform(.sensorFailure)
            case "replace": _ = try world.apply(.replaceFinger)
            case "unplug": _ = try world.apply(.sensor(.none))
            default: reply = "error: unknown command\n"
            }
        } catch {
            reply = "error: \(error.message)\n"
        }
        let bytes = Array(reply.utf8)
        _ = write(connection.number, bytes, bytes.count)
    }
}
