// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

extension CheckReport: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            more: try map.field(0, \.more),
            done: try map.field(1, \.done),
            total: try map.field(2, \.total),
            findings: try map.field(3, \.findings, .list()))
    }
}

extension Finding: WireTuple, WireValue {
    package static func fields<Pass: FieldPass<Self> & ~Copyable>(_ tuple: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            try tuple.field(0, \.kind),
            number: try tuple.field(1, \.number),
            item: try tuple.field(2, \.item, .bytes(limit: 64)),
            words: try tuple.field(3, \.words, .phrase))
    }
}
