# SPDX-License-Identifier: Apache-2.0
#
# The packages of the apps and examples depend on the package around them and share one build folder, .build/apps, so that
# its libraries are compiled once for all of them. A script in the folder of the repository sources this file and then
# calls `swift build $apps --package-path PACKAGE`: . scripts/lib/apps.sh

# Without the second option SwiftPM would build the package that it built last in that folder, whatever PACKAGE is.
apps='--scratch-path .build/apps --disable-build-manifest-caching'
