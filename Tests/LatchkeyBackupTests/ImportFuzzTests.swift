// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import TestSupport
import Testing

@testable import FuzzProperties

/// Arbitrary bytes in place of a backup never stop the program, and no item is returned from an edited file.
@Suite struct ImportFuzzTests {
    @Test func theCorpusOfTheFuzzerIsImportedWithoutComplaint() throws {
        let recipes = try Repository.inputs("import")
        #expect(recipes.count > 15)
        for (name, recipe) in recipes {
            let complaint = FuzzedImport.complaint(about: recipe)
            #expect(complaint == nil, "\(name)")
        }
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func recipesAtRandomAreImportedWithoutComplaint(seed: UInt64) {
        var numbers = SeededGenerator(seed: seed)
        let letters = Array("iiiieearbxcp2".utf8)
        for _ in 0..<60 {
            let recipe = (0..<numbers.next(below: 16)).flatMap { _ -> [UInt8] in
                [
                    letters[numbers.next(below: letters.count)], UInt8(numbers.next(below: 256)),
                    UInt8(numbers.next(below: 256)),
                ]
            }
            #expect(FuzzedImport.complaint(about: recipe) == nil, "\(recipe)")
        }
    }
}
