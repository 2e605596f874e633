// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy

/// Breadth-first search over the reachable states of the reducer.
struct Exploration {
    struct Node: Hashable {
        var state: PolicyState
        var observer: Observer
    }

    private(set) var nodes: [Node] = []
    private(set) var transitions = 0
    /// Number of events in the longest explored sequence.
    private(set) var depth = 0
    /// Whether all reachable states were explored.
    private(set) var isComplete = false
    /// The first violation, with the events that lead to it.
    private(set) var complaint: String?

    private var indices: [Node: Int] = [:]
    private var cameFrom: [(parent: Int, event: PolicyEvent)?] = []

    /// Explores sequences of at most `maximumDepth` events that begin in one of `roots`.
    init(roots: [PolicyState], maximumDepth: Int, events: (PolicyState) -> [PolicyEvent]) {
        for root in roots { add(Node(state: root, observer: Observer(root)), nil) }
        var level = nodes.indices
        while !level.isEmpty, depth < maximumDepth {
            depth += 1
            for index in level {
                for event in events(nodes[index].state) {
                    var node = nodes[index]
                    let effects = node.state.reduce(event)
                    // The time itself is removed, so that states that differ only in it are the same node.
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

    /// Returns the node that `event` leads to from the node at `index`, with its effects; nil if that node was not
    /// explored.
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
