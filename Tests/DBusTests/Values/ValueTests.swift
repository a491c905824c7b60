// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing

@Suite struct ValueTests {
    @Test(arguments: [UInt64(1), 2, 3, 4])
    func `any value comes back as it was sent`(seed: UInt64) async throws {
        try await withServiceAndClient { service, client, _ in
            try await service.export([sample()], at: samplePath)
            let proxy = Proxy(client, await service.uniqueName, samplePath, sampleInterface)
            var generator = ValueGenerator(seed: seed)
            for round in 0..<150 {
                let value = generator.value(depth: round % 7)
                let echo = try await proxy.call("Echo", value, returning: Value.self)
                #expect(echo == value, "seed \(seed), round \(round)")
            }
        }
    }

    @Test func `empty containers keep their types`() async throws {
        try await withServiceAndClient { service, client, _ in
            try await service.export([sample()], at: samplePath)
            let proxy = Proxy(client, await service.uniqueName, samplePath, sampleInterface)
            let values: [Value] = [
                .array(of: "(tt)", []),
                .array(of: "a{sv}", []),
                .dictionary(key: "s", value: "a{s(uu)}", []),
            ]
            for value in values {
                #expect(try await proxy.call("Echo", value, returning: Value.self) == value)
            }
        }
    }

    @Test func `a signature is made of the parts' signatures`() {
        #expect([String: Value].signature == "a{sv}")
        #expect([Structure<UInt64, UInt64>].signature == "a(tt)")
        #expect([[String: Value]].signature == "aa{sv}")
        #expect(["a": Value.byte(1)].busValue.signature == "a{sv}")
        #expect(Value.structure([.byte(1), .array(of: "s", [])]).signature == "(yas)")
    }
}
