// SPDX-License-Identifier: Apache-2.0

@testable import FuzzProperties

/// The position of an item in another: indices of array items and of map entries.
typealias CBORPath = [Int]

extension CBORItem {
    private func children() -> [CBORItem] {
        switch self {
        case .array(let items): items
        case .map(let entries): entries.map(\.value)
        default: []
        }
    }

    /// The paths of all items, this one first.
    var paths: [CBORPath] {
        [[]] + children().enumerated().flatMap { index, child in child.paths.map { [index] + $0 } }
    }

    /// The paths of all maps.
    var pathsToMaps: [CBORPath] {
        paths.filter { if case .map = self[$0] { true } else { false } }
    }

    subscript(path: CBORPath) -> CBORItem {
        path.first.map { children()[$0][Array(path.dropFirst())] } ?? self
    }

    /// This item with the item at `path` replaced.
    func replacing(_ path: CBORPath, with item: CBORItem) -> CBORItem {
        guard let index = path.first else { return item }
        let rest = Array(path.dropFirst())
        switch self {
        case .array(var items):
            items[index] = items[index].replacing(rest, with: item)
            return .array(items)
        case .map(var entries):
            entries[index].value = entries[index].value.replacing(rest, with: item)
            return .map(entries)
        default: return self
        }
    }

    private func editingMap(_ path: CBORPath, _ edit: (inout [Entry]) -> Void) -> CBORItem {
        guard case .map(var entries) = self[path] else { return self }
        edit(&entries)
        return replacing(path, with: .map(entries))
    }

    /// This item with one more entry, the last one, in the map at `path`.
    func addingEntry(_ key: UInt64, at path: CBORPath) -> CBORItem {
        editingMap(path) { $0.append(Entry(key: .unsigned(key), value: [1, "x"])) }
    }

    /// For each entry of each map: this item without that entry.
    var withoutEachEntry: [(path: CBORPath, key: CBORItem, item: CBORItem)] {
        pathsToMaps.flatMap { path in
            guard case .map(let entries) = self[path] else { return [] as [(CBORPath, CBORItem, CBORItem)] }
            return entries.indices.map { index in
                (path, entries[index].key, editingMap(path) { $0.remove(at: index) })
            }
        }
    }
}
