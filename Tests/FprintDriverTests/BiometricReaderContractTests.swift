// SPDX-License-Identifier: Apache-2.0

import SensorTestSupport
import Testing

@Suite struct BiometricReaderContractTests {
    @Test(arguments: ReaderDriver.all, BiometricReaderContract.allCases)
    func everyDriverFulfilsTheContract(_ driver: ReaderDriver, _ rule: BiometricReaderContract) throws {
        try rule.check(driver)
    }
}
