// SPDX-License-Identifier: Apache-2.0

import Security
import Testing

@Suite struct ContiguousDataTests {
    @Test func dataGivesAccessToItsBytesWithoutACopy() {
        for count in [0, 1, 256, 1 << 20] {
            let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            let object = data as NSData
            #expect(object.withUnsafeBytes { Array($0) } == Array(data))
            #expect(object as Data == data)
            #expect((object as AnyObject) as? Data == data)
            #expect(NSMutableData(data: data) as Data == data)
        }
    }

    @Test func aSliceGivesAccessToItsOwnBytesOnly() {
        let slice = Data([1, 2, 3, 4, 5])[1..<4] as NSData
        #expect(slice.withUnsafeBytes { Array($0) } == [2, 3, 4])
        #expect(slice as Data == Data([2, 3, 4]))
    }
}
