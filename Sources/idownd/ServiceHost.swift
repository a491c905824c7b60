// SPDX-License-Identifier: Apache-2.0

import iDownData
import iDownDesktop
import iDownService
import iDownState
import iDownloader

/// What the desktop tells and asks, told to the coordinator and asked of it.
struct ServiceHost: DesktopHost {
    let coordinator: Coordinator
    let engine: Engine

    func conditionsChanged(_ conditions: DesktopConditions) async {
        await coordinator.setConditions(
            isCaptive: conditions.isCaptive,
            isMetered: conditions.isMetered,
            isBatteryLow: conditions.isBatteryLow
        )
    }

    func willSleep() async { await coordinator.fallAsleep() }

    func didWake() async {
        guard await coordinator.isAsleep else { return }
        engine.distrustConnections()
        await coordinator.awaken()
    }

    func carryOut(_ verb: DesktopVerb, on ids: [String]) async {
        let command: Command =
            switch verb {
            case .pause: .pause
            case .resume: .resume
            case .retry: .retry
            case .cancel: .cancel
            }
        for id in ids.compactMap({ TaskID($0) }) {
            // What is gone, or at its end meanwhile, is nothing that anybody could mend.
            try? await coordinator.carryOut(command, on: id)
        }
    }
}

extension DesktopSettings {
    /// What the settings say.
    init(_ settings: Settings) {
        self.init()
        notifies = settings.notifies
        staysAwake = settings.staysAwake
        whenDoneCommand = settings.whenDoneCommand
    }
}
