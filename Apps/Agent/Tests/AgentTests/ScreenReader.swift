// SPDX-License-Identifier: Apache-2.0

import CAtspi
import Glibc

/// An element of a window, as assistive technology sees it.
struct Accessible {
    fileprivate let reference: UnsafeMutablePointer<AtspiAccessible>
    let role: String
    let name: String
    let description: String
    let isFocused: Bool
    let isSensitive: Bool
    let isPressed: Bool
    let children: [Accessible]

    fileprivate init?(_ reference: UnsafeMutablePointer<AtspiAccessible>) {
        // Reads the current state, not a cached one.
        atspi_accessible_clear_cache(reference)
        guard let states = atspi_accessible_get_state_set(reference),
            atspi_state_set_contains(states, ATSPI_STATE_VISIBLE) != 0
        else { return nil }
        self.reference = reference
        role = Accessible.text(atspi_accessible_get_role_name(reference, nil))
        name = Accessible.text(atspi_accessible_get_name(reference, nil))
        description = Accessible.text(atspi_accessible_get_description(reference, nil))
        isFocused = atspi_state_set_contains(states, ATSPI_STATE_FOCUSED) != 0
        isPressed = atspi_state_set_contains(states, ATSPI_STATE_PRESSED) != 0
        isSensitive = atspi_state_set_contains(states, ATSPI_STATE_SENSITIVE) != 0
        let count = atspi_accessible_get_child_count(reference, nil)
        children = (0..<max(0, count)).compactMap {
            atspi_accessible_get_child_at_index(reference, $0, nil).flatMap { Accessible($0) }
        }
    }

    fileprivate static func text(_ text: UnsafeMutablePointer<CChar>?) -> String {
        guard let text else { return "" }
        defer { g_free(text) }
        return String(cString: text)
    }

    /// This element and all its descendants.
    var all: [Accessible] { [self] + children.flatMap(\.all) }

    /// Everything that was read of it, for comparison with another reading.
    var summary: [String] { all.map { "\($0.role)|\($0.name)|\($0.description)|\($0.isFocused)|\($0.isSensitive)" } }

    /// Its position and size within its window; nil when it has none.
    var frame: (x: Int, y: Int, width: Int, height: Int)? {
        guard let component = atspi_accessible_get_component_iface(reference),
            let rectangle = atspi_component_get_extents(component, ATSPI_COORD_TYPE_WINDOW, nil)
        else { return nil }
        defer { g_free(rectangle) }
        let found = rectangle.pointee
        return (Int(found.x), Int(found.y), Int(found.width), Int(found.height))
    }

    /// The text that it exposes.
    var content: String {
        guard let interface = atspi_accessible_get_text_iface(reference) else { return "" }
        return Accessible.text(atspi_text_get_text(interface, 0, -1, nil))
    }

    /// Performs its action, as assistive technology does, and returns whether it succeeded.
    func press() -> Bool {
        guard let interface = atspi_accessible_get_action_iface(reference) else { return false }
        return atspi_action_do_action(interface, 0, nil) != 0
    }
}

/// Reads windows over the accessibility bus.
enum ScreenReader {
    /// The visible windows of a process.
    static func windows(of process: pid_t) -> [Accessible] {
        atspi_init()
        guard let desktop = atspi_get_desktop(0) else { return [] }
        atspi_accessible_clear_cache(desktop)
        let count = atspi_accessible_get_child_count(desktop, nil)
        for index in 0..<max(0, count) {
            guard let program = atspi_accessible_get_child_at_index(desktop, index, nil),
                atspi_accessible_get_process_id(program, nil) == guint(process)
            else { continue }
            atspi_accessible_clear_cache(program)
            let windows = atspi_accessible_get_child_count(program, nil)
            return (0..<max(0, windows)).compactMap {
                atspi_accessible_get_child_at_index(program, $0, nil).flatMap { Accessible($0) }
            }
        }
        return []
    }
}
