// SPDX-License-Identifier: Apache-2.0

import CAdwaita

/// Scrolls a widget into sight that a button has shown. GTK does so for the focus only.
@MainActor enum Reveal {
    /// What is shown beside the widget, if there is room, in points.
    private static let surroundings: Double = 36

    /// Scrolls a widget into sight once it has its place.
    static func show(_ widget: UnsafeMutablePointer<GtkWidget>) {
        guard gtk_widget_get_ancestor(widget, gtk_viewport_get_type()) != nil else { return }
        let tick: GtkTickCallback = { widget, _, data in
            guard let widget, let data else { return 0 }
            return MainActor.assumeIsolated {
                Unmanaged<Frames>.fromOpaque(data).takeUnretainedValue().begin(widget) ? 1 : 0
            }
        }
        let drop: GDestroyNotify = { data in
            if let data { Unmanaged<Frames>.fromOpaque(data).release() }
        }
        gtk_widget_add_tick_callback(widget, tick, Unmanaged.passRetained(Frames()).toOpaque(), drop)
    }

    /// The frames since a widget appeared.
    @MainActor private final class Frames {
        private var last: Place?
        /// More than a page needs; a widget that is hidden meanwhile has no place.
        private var left = 30

        /// Called when a frame begins, before it places widgets; returns whether to call it again. A place is the new one once
        /// two frames agree.
        func begin(_ widget: UnsafeMutablePointer<GtkWidget>) -> Bool {
            let place = Place(widget)
            if let place, place == last {
                place.scroll()
                return false
            }
            last = place
            left -= 1
            return left > 0
        }
    }

    /// Where a widget is on the page that scrolls it.
    private struct Place: Equatable {
        private let adjustment: UnsafeMutablePointer<GtkAdjustment>
        private let top: Double
        private let height: Double
        private let seen: Double

        /// Nil while the widget has no place.
        @MainActor init?(_ widget: UnsafeMutablePointer<GtkWidget>) {
            guard let viewport = gtk_widget_get_ancestor(widget, gtk_viewport_get_type()),
                let content = gtk_widget_get_first_child(viewport),
                let adjustment = gtk_scrollable_get_vadjustment(OpaquePointer(viewport))
            else { return nil }
            var place = graphene_rect_t()
            guard gtk_widget_compute_bounds(widget, content, &place) != 0, place.size.height > 0 else { return nil }
            self.adjustment = adjustment
            (top, height) = (Double(place.origin.y), Double(place.size.height))
            seen = gtk_adjustment_get_page_size(adjustment)
        }

        @MainActor func scroll() {
            gtk_adjustment_clamp_page(adjustment, max(0, top - surroundings), top + height + surroundings)
        }
    }
}
