// SPDX-License-Identifier: Apache-2.0

// A script names the kinds of sensor and what a person does wrong at one, which are Latchkey's own types.
@_exported public import enum LatchkeyModel.BiometryKind
@_exported public import enum LatchkeyModel.SensorGuidance
