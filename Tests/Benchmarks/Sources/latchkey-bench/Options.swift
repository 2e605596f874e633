// SPDX-License-Identifier: Apache-2.0

/// The options of the command line.
struct Options: Sendable {
    /// The largest number of items in the store.
    var maximum = 100_000
    /// Timed reads at each number of items.
    var reads = 5000
    /// Timed writes of each kind at each number of items.
    var writes = 1000
    /// The cores that the processes are bound to.
    var cores = Cores.one
    /// The parent of the temporary folder; nil: the first usual folder on a real disk.
    var folder: String?
    /// The file for the JSON; "-" is standard output, nil: none.
    var json: String?

    /// The numbers of items at which to measure.
    var sizes: [Int] { [1, 1000, 10_000, 100_000].filter { $0 < maximum } + [maximum] }

    static let help = """
        usage: latchkey-bench [--max N] [--reads N] [--writes N] [--cores 1|2]
                              [--folder DIR] [--json FILE] [--tpm]

        Measures add, read, update and delete of generic passwords through the real socket and the real daemon,
        in alternating batches with floors of this machine. LATCHKEY_DAEMON names the daemon; `make bench`
        builds it and sets the variable.

          --max N       items in the store at the end (default 100000); also measured at 1, 1000, 10000
                        and 100000
          --reads N     timed reads at each number of items (default 5000)
          --writes N    timed adds, updates and deletes at each number of items (default 1000)
          --cores 1|2   all processes on one core (default), or the caller on one and all others on a second
          --folder DIR  parent of the temporary folder; must be on a real disk
          --tpm         only signatures of keys in a software TPM, compared with its commands alone
          --json FILE   also write the numbers as JSON; - writes them to standard output instead of the table

        A time covers one call of Security without the creation of its dictionary. The exit code is 0 when every
        call returned the right result; a missed goal does not fail a run.

        """

    /// The mode of the program.
    enum Choice {
        case help
        /// The second process of the floors, which the program starts itself.
        case floor(database: String)
        /// Only signatures of keys in a software TPM.
        case tpm(Options)
        /// Both services of tier `tpm`, in a namespace in which the program starts itself.
        case passcodeServices(folder: String, programs: String)
        /// The client of those services, which the program starts itself on a terminal.
        case passcodeClient(floor: String, result: String)
        /// The listing process, which the program starts itself.
        case list
        case measure(Options)

        /// Parses the command line.
        init(arguments: [String]) throws(BenchFailure) {
            var options = Options()
            var rest = arguments[...]
            var isTPMOnly = false
            while let name = rest.popFirst() {
                switch name {
                case "--help", "-h":
                    self = .help
                    return
                case "--floor":
                    self = .floor(database: try Choice.text(name, rest.popFirst()))
                    return
                case "--list":
                    self = .list
                    return
                case "--passcode-services":
                    self = .passcodeServices(
                        folder: try Choice.text(name, rest.popFirst()), programs: try Choice.text(name, rest.popFirst())
                    )
                    return
                case "--passcode-client":
                    self = .passcodeClient(
                        floor: try Choice.text(name, rest.popFirst()), result: try Choice.text(name, rest.popFirst()))
                    return
                case "--tpm": isTPMOnly = true
                case "--max": options.maximum = try Choice.number(name, rest.popFirst(), 1...10_000_000)
                case "--reads": options.reads = try Choice.number(name, rest.popFirst(), 1...10_000_000)
                case "--writes": options.writes = try Choice.number(name, rest.popFirst(), 1...1_000_000)
                case "--cores": options.cores = try Choice.number(name, rest.popFirst(), 1...2) == 1 ? .one : .two
                case "--folder": options.folder = try Choice.text(name, rest.popFirst())
                case "--json": options.json = try Choice.text(name, rest.popFirst())
                default: throw BenchFailure("unknown option \(name)", hint: "See: latchkey-bench --help")
                }
            }
            self = isTPMOnly ? .tpm(options) : .measure(options)
        }

        private static func text(_ name: String, _ value: String?) throws(BenchFailure) -> String {
            guard let value, !value.isEmpty else { throw BenchFailure("\(name) requires a value.") }
            return value
        }

        private static func number(
            _ name: String, _ value: String?, _ range: ClosedRange<Int>
        ) throws(BenchFailure) -> Int {
            guard let value, let number = Int(value), range.contains(number) else {
                throw BenchFailure("\(name) requires a number from \(range.lowerBound) to \(range.upperBound).")
            }
            return number
        }
    }
}
