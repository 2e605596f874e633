// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy

/// Breadth-first search over everything the reducer can be led to.
struct Exploration {
    struct Node: Hashable {
        var state: PolicyState
        var observer: Observer
    }

    private(set) var nodes: [Node] = []
    private(set) var transitions = 0
    /// Events after which nothing new was looked for.
    private(set) var depth = 0
    /// Whether the search ended because there was nothing new.
    private(set) var isComplete = false
    /// The first thing that went wrong, with the events that lead there.
    private(set) var complaint: String?

    private var indices: [Node: Int] = [:]
    private var cameFrom: [(parent: Int, event: PolicyEvent)?] = []

    /// Explores from `roots` for at most `maximumDepth` events in a row.
    init(roots: [PolicyState], maximumDepth: Int, events: (PolicyState) -> [PolicyEvent]) {
        for root in roots { add(Node(state: root, observer: Observer(root)), nil) }
        var level = nodes.indices
        while !level.isEmpty, depth < maximumDepth {
            depth += 1
            for index in level {
                for event in events(nodes[index].state) {
                    var node = nodes[index]
                    let effects = node.state.reduce(event)
                    // Only what was decided with it is of interest, not the time itself.
                    node.state.now = 0
                    transitions += 1
                    if let found = node.observer.complaint(
                        about: event, effects, before: nodes[index].state, after: node.state)
                    {
                        complaint = "\(found)\nafter \(path(to: index) + [event])\nwith effects \(effects)"
                        return
                    }
                    add(node, (index, event))
                }
            }
            level = level.upperBound..<nodes.count
        }
        isComplete = level.isEmpty
    }

    /// Where `event` leads from the node at `index`, and what it has done on the way; nil when that was not explored.
    func follow(_ event: PolicyEvent, from index: Int) -> (index: Int, effects: [PolicyEffect])? {
        var node = nodes[index]
        let effects = node.state.reduce(event)
        node.state.now = 0
        _ = node.observer.complaint(about: event, effects, before: nodes[index].state, after: node.state)
        return indices[node].map { ($0, effects) }
    }

    private mutating func add(_ node: Node, _ origin: (parent: Int, event: PolicyEvent)?) {
        guard indices[node] == nil else { return }
        indices[node] = nodes.count
        nodes.append(node)
        cameFrom.append(origin)
    }

    private func path(to index: Int) -> [PolicyEvent] {
        var path: [PolicyEvent] = []
        var index = index
        while let (parent, event) = cameFrom[index] {
            path.append(event)
            index = parent
        }
        return path.reversed()
    }
}
