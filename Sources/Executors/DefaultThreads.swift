// SPDX-License-Identifier: Apache-2.0

#if OWN_THREADS
    @_spi(ExperimentalCustomExecutors) import _Concurrency
#endif

/// Puts threads that let the process sleep under all tasks.
///
/// The way of Swift 6.3 to choose executors is still experimental: what a later one changes about it
/// is changed in this room, and the manifest says by which compilers this room is built at all
/// (`OWN_THREADS`). The compiler's own way, a type of a certain name in the type of `main`,
/// is only taken with availability checking switched off; the runtime's function does the same.
package enum DefaultThreads {
    /// Has all tasks of this process that begin from now on run on its own threads.
    ///
    /// To be called once, as the first thing, before there is any task: `swift_createExecutors`.
    /// Built without `OWN_THREADS`, tasks stay on the runtime's threads, and the process wakes up
    /// every second.
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
