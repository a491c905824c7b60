// SPDX-License-Identifier: Apache-2.0

extension TaskRecord {
    /// Gives the task another place in the queue; what runs goes on running.
    package mutating func setPriority(_ priority: Int32) throws(Refusal) -> [Effect] {
        guard intent != .remove else { throw .gone }
        guard self.priority != priority else { return [] }
        self.priority = priority
        return [.persist, .announce]
    }
}
