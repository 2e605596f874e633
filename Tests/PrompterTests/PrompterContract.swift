// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySeams
import Synchronization
import Testing

/// The contract of `Prompter`, which every driver must fulfil.
@Suite struct PrompterContract {
    @Test(arguments: Driver.all) func aPromptIsReportedVisibleOrUnavailable(_ driver: Driver) throws {
        let (made, events) = (try driver.make(), Events())
        made.prompter.show(.numbered(1), events: events.add)
        #expect(events.wait())
        #expect(events.all == [made.isAvailable ? .visible : .unavailable])
        made.prompter.dismiss(1)
    }

    @Test(arguments: Driver.all.filter(\.isDeferred))
    func noEventIsReportedFromWithinACall(_ driver: Driver) throws {
        let (made, events) = (try driver.make(), Events())
        let caller = UInt(pthread_self())
        let isCalling = Mutex(true)
        let isWithin = Mutex(false)
        made.prompter.show(.numbered(1)) { event in
            // An event on another thread is not from within the call, even if the call has not returned yet.
            let isHere = UInt(pthread_self()) == caller && isCalling.withLock { $0 }
            isWithin.withLock { $0 = $0 || isHere }
            events.add(event)
        }
        isCalling.withLock { $0 = false }
        #expect(events.wait())
        #expect(!isWithin.withLock { $0 })
        made.prompter.dismiss(1)
    }

    @Test(arguments: Driver.all) func aDismissedPromptReportsNothing(_ driver: Driver) throws {
        let (made, events) = (try driver.make(), Events())
        made.prompter.show(.numbered(1), events: events.add)
        #expect(events.wait())
        let before = events.all
        for _ in 1...2 { made.prompter.dismiss(1) }
        made.cancel?(1)
        // A later prompt is reported after everything that concerns the first one.
        let later = Events()
        made.prompter.show(.numbered(2), events: later.add)
        #expect(later.wait())
        made.prompter.dismiss(2)
        #expect(events.all == before)
    }

    @Test(arguments: Driver.all.filter(\.isAnswered))
    func anAnswerReachesItsPromptAlone(_ driver: Driver) throws {
        let made = try driver.make()
        let cancel = try #require(made.cancel)
        let (first, second) = (Events(), Events())
        made.prompter.show(.numbered(1), events: first.add)
        #expect(first.wait())
        made.prompter.show(.numbered(2), events: second.add)
        #expect(second.wait())
        cancel(2)
        #expect(second.wait())
        #expect(first.all == [.visible])
        #expect(second.all == [.visible, .cancel])
        for id in [1, 2] as [UInt64] { made.prompter.dismiss(id) }
    }

    @Test(arguments: Driver.all) func contentOfAPromptThatIsNotShownIsIgnored(_ driver: Driver) throws {
        let (made, events) = (try driver.make(), Events())
        made.prompter.update(7, Prompt.numbered(7).content)
        made.prompter.dismiss(7)
        made.prompter.show(.numbered(1), events: events.add)
        #expect(events.wait())
        made.prompter.update(7, Prompt.numbered(7).content)
        made.prompter.dismiss(7)
        #expect(events.all == [made.isAvailable ? .visible : .unavailable])
        made.prompter.dismiss(1)
    }
}
