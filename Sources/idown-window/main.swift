// SPDX-License-Identifier: Apache-2.0

import Executors
import Glibc
import iDownWindow

DefaultThreads.install()
exit(WindowApplication.run())
