// SPDX-License-Identifier: Apache-2.0

#if OWN_THREADS
    @_spi(ExperimentalCustomExecutors) import _Concurrency
#endif

/// Makes Swift's tasks run on threads that let an idle process sleep.
///
/// Swift 6.3's way to choose executors is experimental. If a later version changes it, only this
/// folder has to follow, and the manifest lists the compilers for which it is built
/// (`OWN_THREADS`). The compiler's own way, a type with a fixed name inside the type of `main`,
/// requires availability checking to be off; the runtime's function does the same without that.
package enum DefaultThreads {
    /// Makes every task that begins from now on run on ``TaskThreads``, with
    /// `swift_createExecutors`.
    ///
    /// Call it once, before the process creates its first task. In a build without `OWN_THREADS`,
    /// it does nothing: tasks stay on the runtime's threads, and the process wakes up every second.
    package static func install() {
        #if OWN_THREADS
            _createExecutors(factory: Factory.self)
        #endif
    }

    #if OWN_THREADS
        private enum Factory: ExecutorFactory {
            static var mainExecutor: any MainExecutor { PlatformExecutorFactory.mainExecutor }
            static let defaultExecutor: any TaskExecutor = TaskThreads()
        }
    #endif
}
